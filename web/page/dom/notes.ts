// A note above the buttons, with one button. Only one note is shown at a time, until the button is pressed or the
// note no longer applies.
import { hideKeepingFocus, onPress } from "./buttons.js";
import type { Elements } from "./elements.js";
import { setTranslatedText } from "../language/keep-translated.js";

export interface Note {
  sentence: () => string;
  /** The button's label and action. The note is hidden in either case. */
  label: () => string;
  press: () => void;
  /** The button only hides the note, which needs no other one for that. */
  isOnlyRead?: true;
}

/** The last one receives the focus when the buttons disappear. */
type NotePlace = Pick<Elements, "noteText" | "noteButton" | "noteClose" | "generate">;

export class Notes {
  private readonly place: NotePlace;
  private shown: Note | undefined;

  constructor(place: NotePlace) {
    this.place = place;
    onPress(place.noteButton, () => {
      const { shown } = this;
      if (!shown) return;
      this.hide(shown);
      shown.press();
    });
    onPress(place.noteClose, () => this.hide(this.shown));
  }

  /** Shows `note` and replaces any other. */
  show(note: Note): void {
    const { noteText, noteButton, noteClose } = this.place;
    this.shown = note;
    setTranslatedText(noteText, note.sentence);
    setTranslatedText(noteButton, note.label);
    noteButton.hidden = false;
    noteClose.hidden = note.isOnlyRead === true;
  }

  /** Hides `note` if it is still shown. */
  hide(note: Note | undefined): void {
    if (!note || note !== this.shown) return;
    const { noteText, noteButton, noteClose, generate } = this.place;
    this.shown = undefined;
    setTranslatedText(noteText, () => "");
    for (const each of [noteButton, noteClose]) hideKeepingFocus(each, generate);
  }
}
