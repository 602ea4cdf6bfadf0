// Whether the page is used by touch.

export const isTouched = () => matchMedia("(pointer: coarse)").matches;
