// A note above the buttons, with one button: one at a time, until it is pressed or what the note says is no longer so.
import { hide, onPress } from "./buttons.js";
import { put } from "../language/told.js";

export interface Note {
  sentence: () => string;
  /** What its button is called and does; either way the note goes. */
  label: () => string;
  press: () => void;
}

export interface NotePlace {
  text: HTMLElement;
  button: HTMLButtonElement;
  /** Gets the focus of a button that goes. */
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

  /** In the place of one that is shown already. */
  show(note: Note): void {
    const { text, button } = this.place;
    this.shown = note;
    put(text, note.sentence);
    put(button, note.label);
    button.hidden = false;
  }

  /** Takes `note` away, if it is still shown. */
  hide(note: Note | undefined): void {
    if (!note || note !== this.shown) return;
    const { text, button, next } = this.place;
    this.shown = undefined;
    put(text, () => "");
    hide(button, next);
  }
}
