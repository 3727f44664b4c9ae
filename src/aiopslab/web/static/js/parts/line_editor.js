/**
 * Editing of one command line, with history, as at a shell prompt.
 *
 * It knows keys and escape sequences, not xterm.js: `write` gets what a terminal is to show.
 */

const PROMPT = "$ ";
const MAX_HISTORY = 200;

export class LineEditor {
  /**
   * @param {function(string): void} write shows text at the terminal
   * @param {function(): number} columns returns the width of the terminal
   * @param {function(string): void} onLine gets each finished line
   */
  constructor(write, columns, onLine) {
    this.write = write;
    this.columns = columns;
    this.onLine = onLine;
    this.history = [];
    this.isOpen = false;
    this.clearLine();
  }

  clearLine() {
    this.text = [];
    this.place = 0;
    this.row = 0;
    this.recalled = this.history.length;
    this.draft = [];
  }

  /** Show the prompt and accept keys. */
  open() {
    this.isOpen = true;
    this.clearLine();
    this.write(PROMPT);
  }

  /** Accept no keys, until opened again. */
  close() {
    this.isOpen = false;
  }

  /** Take input as a terminal reports it: a key, or pasted text. */
  feed(data) {
    if (!this.isOpen) return;
    const key = KEYS[data];
    if (key) {
      this[key]();
      return;
    }
    if (data.startsWith("\x1b")) return; // an unknown key, or a terminal's report
    const [first, ...rest] = data.split(/\r\n|\r|\n/);
    this.insert(first);
    for (const line of rest) {
      this.finish();
      if (!this.isOpen) return; // lines after a pasted command would be typed into its output
      this.insert(line);
    }
  }

  insert(text) {
    const typed = [...text.replace(/\t/g, " ")].filter(
      (character) => character >= " " && character !== "\x7f",
    );
    if (typed.length === 0) return;
    const isAtEnd = this.place === this.text.length;
    this.text.splice(this.place, 0, ...typed);
    this.place += typed.length;
    const end = PROMPT.length + this.place;
    if (isAtEnd && end % this.columns() !== 0) {
      // A screen reader repeats what is written, so only what is new is.
      this.row = Math.floor(end / this.columns());
      this.write(typed.join(""));
    } else {
      this.draw();
    }
  }

  finish() {
    this.place = this.text.length;
    this.draw();
    this.write("\r\n");
    const line = this.text.join("");
    if (!line.trim()) {
      this.open();
      return;
    }
    if (line !== this.history.at(-1)) this.history.push(line);
    this.history.splice(0, this.history.length - MAX_HISTORY);
    this.clearLine();
    this.close();
    this.onLine(line);
  }

  backspace() {
    if (this.place === 0) return;
    this.text.splice(this.place - 1, 1);
    this.place -= 1;
    this.draw();
  }

  deleteNext() {
    this.text.splice(this.place, 1);
    this.draw();
  }

  moveLeft() {
    this.moveTo(this.place - 1);
  }

  moveRight() {
    this.moveTo(this.place + 1);
  }

  moveToStart() {
    this.moveTo(0);
  }

  moveToEnd() {
    this.moveTo(this.text.length);
  }

  moveTo(place) {
    this.place = Math.min(Math.max(place, 0), this.text.length);
    this.draw();
  }

  deleteToStart() {
    this.text.splice(0, this.place);
    this.moveTo(0);
  }

  deleteToEnd() {
    this.text.splice(this.place);
    this.draw();
  }

  deleteWord() {
    const before = this.text.slice(0, this.place).join("");
    const kept = [...before.replace(/\S*\s*$/, "")].length;
    this.text.splice(kept, this.place - kept);
    this.moveTo(kept);
  }

  recallOlder() {
    this.recall(this.recalled - 1);
  }

  recallNewer() {
    this.recall(this.recalled + 1);
  }

  recall(number) {
    if (number < 0 || number > this.history.length) return;
    if (this.recalled === this.history.length) this.draft = this.text;
    this.recalled = number;
    this.text = number === this.history.length ? this.draft : [...this.history[number]];
    this.moveToEnd();
  }

  abandon() {
    this.moveToEnd();
    this.write("^C\r\n");
    this.open();
  }

  clearScreen() {
    this.write("\x1b[2J\x1b[H");
    this.row = 0;
    this.draw();
  }

  /** Write prompt and line anew, over all rows that they take, and put the cursor into its place. */
  draw() {
    const width = Math.max(1, this.columns());
    const up = this.row > 0 ? `\x1b[${this.row}A` : "";
    const length = PROMPT.length + this.text.length;
    const place = PROMPT.length + this.place;
    const isFull = length % width === 0; // the terminal wraps only with the next character
    this.row = Math.floor(place / width);
    const back = Math.floor(length / width) - this.row;
    const column = place % width;
    this.write(
      `${up}\r\x1b[J${PROMPT}${this.text.join("")}${isFull ? "\r\n" : ""}` +
        `${back > 0 ? `\x1b[${back}A` : ""}\r${column > 0 ? `\x1b[${column}C` : ""}`,
    );
  }
}

/** Methods by what a terminal reports for their keys. */
const KEYS = {
  "\r": "finish",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b[3~": "deleteNext",
  "\x1b[D": "moveLeft",
  "\x1b[C": "moveRight",
  "\x1b[A": "recallOlder",
  "\x1b[B": "recallNewer",
  "\x1b[H": "moveToStart",
  "\x1b[F": "moveToEnd",
  "\x01": "moveToStart",
  "\x05": "moveToEnd",
  "\x15": "deleteToStart",
  "\x0b": "deleteToEnd",
  "\x17": "deleteWord",
  "\x10": "recallOlder",
  "\x0e": "recallNewer",
  "\x03": "abandon",
  "\x0c": "clearScreen",
};
