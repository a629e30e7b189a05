/** What an operator types, and what a scanner of badges or barcodes sends: only the time between characters distinguishes them. */
import type { Command } from './events.ts';

/** A command that was typed, or a badge that was scanned. */
export type Operated = { readonly type: Command } | { readonly type: 'badge'; readonly text: string };

/** What was typed or scanned. */
export type Typed = Operated | { readonly type: 'interrupt' } | { readonly type: 'suspend' };

/** Milliseconds. Characters that follow each other faster come from a scanner. */
export const scanGapMs = 35;
/** Characters of a scan that are read: longer ones name no person. */
const longestScan = 256;

const commands: Readonly<Record<string, Command>> = { '\x1b': 'undo', s: 'skip', S: 'skip', r: 'redo', R: 'redo' };
/** Keys such as the arrows send several characters. */
const sequences = /\x1b[[O][0-9;?]*[A-Za-z~]/g;
const controls = /[\x00-\x1f\x7f]/g;

/** Distinguishes keys from scans by the time between characters. `at` is in milliseconds of any steady clock. */
export class Keyboard {
  /** Characters of a scan, or one that may be its first. */
  #text = '';
  #lastAt = Number.NEGATIVE_INFINITY;
  #last = '';

  /** Whether `flush` is due when no character has followed for `scanGapMs`. */
  get isWaiting(): boolean {
    return this.#text !== '';
  }

  /** What is complete with these characters. */
  take(characters: string, at: number): readonly Typed[] {
    return [...characters.replace(sequences, '')].flatMap(character => this.#character(character, at));
  }

  /** No character has followed: one character is a key, several without Enter are an incomplete scan and ignored. */
  flush(): readonly Typed[] {
    const command = commands[this.#text];
    this.#text = '';
    return command === undefined ? [] : [{ type: command }];
  }

  #character(character: string, at: number): readonly Typed[] {
    const isLate = at - this.#lastAt >= scanGapMs;
    const before = isLate ? this.flush() : [];
    // Some scanners send CR and LF.
    const isSecondEnd = character === '\n' && this.#last === '\r' && !isLate;
    this.#lastAt = at;
    this.#last = character;
    return isSecondEnd ? [] : [...before, ...this.#typed(character)];
  }

  #typed(character: string): readonly Typed[] {
    switch (character) {
      case '\x03':
        return [{ type: 'interrupt' }];
      case '\x1a':
        return [{ type: 'suspend' }];
      case '\r':
      case '\n':
        return [this.#entered()];
      default:
        if (this.#text.length < longestScan) this.#text += character;
        return [];
    }
  }

  #entered(): Typed {
    const text = this.#text.replace(controls, '').trim();
    this.#text = '';
    return text === '' ? { type: 'enter' } : { type: 'badge', text };
  }
}
