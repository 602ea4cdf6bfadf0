// A note above the buttons, with one button. Only one note is shown at a time, until the button is pressed or the
// note no longer applies.
import { hideKeepingFocus, onPress } from "./buttons.js";
import { setTranslatedText } from "../language/keep-translated.js";

export interface Note {
  sentence: () => string;
  /** The button's label and action. The note is hidden in either case. */
  label: () => string;
  press: () => void;
  /** The button only hides the note, which needs no other one for that. */
  isOnlyRead?: true;
}

export interface NotePlace {
  text: HTMLElement;
  button: HTMLButtonElement;
  /** Hides the note without its action. */
  close: HTMLButtonElement;
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
    onPress(place.close, () => this.hide(this.shown));
  }

  /** Shows `note` and replaces any other. */
  show(note: Note): void {
    const { text, button, close } = this.place;
    this.shown = note;
    setTranslatedText(text, note.sentence);
    setTranslatedText(button, note.label);
    button.hidden = false;
    close.hidden = note.isOnlyRead === true;
  }

  /** Hides `note` if it is still shown. */
  hide(note: Note | undefined): void {
    if (!note || note !== this.shown) return;
    const { text, button, close, next } = this.place;
    this.shown = undefined;
    setTranslatedText(text, () => "");
    for (const each of [button, close]) hideKeepingFocus(each, next);
  }
}
