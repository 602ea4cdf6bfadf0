// A note above the buttons, with one button: one at a time, until it is pressed or what the note says is no longer so.
import { hideKeepingFocus, onPress } from "./buttons.js";
import { setTranslatedText } from "../language/keep-translated.js";

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
    setTranslatedText(text, note.sentence);
    setTranslatedText(button, note.label);
    button.hidden = false;
  }

  /** Takes `note` away, if it is still shown. */
  hide(note: Note | undefined): void {
    if (!note || note !== this.shown) return;
    const { text, button, next } = this.place;
    this.shown = undefined;
    setTranslatedText(text, () => "");
    hideKeepingFocus(button, next);
  }
}
