// A note above the buttons, with one button. Only one note is shown at a time, until the button is pressed or the
// note no longer applies.
import { hideKeepingFocus, onPress } from "./buttons.js";
import { setTranslatedText } from "../language/keep-translated.js";

export interface Note {
  sentence: () => string;
  /** The button's label and action. The note is hidden in either case. */
  label: () => string;
  press: () => void;
}

export interface NotePlace {
  text: HTMLElement;
  button: HTMLButtonElement;
  /** Receives the focus when the button disappears. */
  next: HTMLElement;
}

export class Notes {
  private readonly place: NotePlace;
  private shown: Note | undefined;

  constructor(place: NotePlace) {
    this.place = place;
    onPress(place.button, () => {
      const { shown } = this;
      if (!shown) return;
      this.hide(shown);
      shown.press();
    });
  }

  /** Shows `note` and replaces any other. */
  show(note: Note): void {
    const { text, button } = this.place;
    this.shown = note;
    setTranslatedText(text, note.sentence);
    setTranslatedText(button, note.label);
    button.hidden = false;
  }

  /** Hides `note` if it is still shown. */
  hide(note: Note | undefined): void {
    if (!note || note !== this.shown) return;
    const { text, button, next } = this.place;
    this.shown = undefined;
    setTranslatedText(text, () => "");
    hideKeepingFocus(button, next);
  }
}
