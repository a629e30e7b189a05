/**
 * Characters that an operator types, or that a scanner of badges or barcodes sends. Only the time between characters distinguishes them,
 * and it is not reliable: an incomplete scan may look like a keystroke, like another badge, or like Enter. A part of a scan must never
 * be taken for any of these.
 */
import type { Command } from './events.ts';

/** A badge that was scanned. `before`: characters that came right before it without Enter; together they may be one scan that was cut. */
export interface Badge {
  readonly type: 'badge';
  readonly text: string;
  readonly before?: string;
}

/** Enter. `before`: keys that came right before it; they and Enter may be one scan that was cut. */
export interface Enter {
  readonly type: 'enter';
  readonly before?: string;
}

/** Inputs for the line. `cut`: a scan was incomplete. `early`: Enter that came right after another key. */
export type LineInput = { readonly type: Exclude<Command, 'enter'> | 'cut' | 'early' } | Badge | Enter;

/** An input that was typed or scanned. */
export type TypedInput = LineInput | { readonly type: 'interrupt' } | { readonly type: 'suspend' };

/** Milliseconds. Characters that follow each other faster come from a scanner. */
export const scanGapMs = 150;
/** Shorter where people type texts as well. */
export const scanGapInPageMs = 75;
/** Milliseconds without a character before Enter, so that it confirms, and after a letter, so that it is a command. */
export const confirmMs = 300;
/** Milliseconds. Esc alone acts after this time: some keys send Esc and further characters. */
const escapeMs = 35;
/** Characters of a scan that are read: longer ones name no person. */
const longestScan = 256;

const esc = '\x1b';
const commands: ReadonlyMap<string, 'skip' | 'redo'> = new Map([
  ['s', 'skip'],
  ['S', 'skip'],
  ['r', 'redo'],
  ['R', 'redo'],
]);
/** Keys such as the arrows send several characters. */
const sequences = /\x1b[[O][0-9;?]*[A-Za-z~]/g;
const controls = /[\x00-\x1f\x7f]/g;
/** Stands for a key that has no meaning here. */
const otherKey = '\0';

const plainOf = (text: string): string => text.replace(sequences, '').replace(controls, '').trim();

/** Distinguishes keys from scans by the time between characters. `at` is in milliseconds of any steady clock. */
export class Keyboard {
  readonly #gapMs: number;
  /** Characters of a scan, or one that may be its first. */
  #text = '';
  /** A scan was incomplete: the rest of it may follow, up to its Enter. */
  #isCut = false;
  /** Characters since the last Enter that counted as keys or as an incomplete scan. */
  #before = '';
  /** Whether Esc came after them. */
  #isAnswered = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #last = '';

  constructor(gapMs: number = scanGapMs) {
    this.#gapMs = gapMs;
  }

  /** Milliseconds without a further character after which `flush` is due; null if nothing waits for that. */
  get waitMs(): number | null {
    if (this.#text === '') return null;
    if (this.#text === esc) return escapeMs;
    return commands.has(this.#text) ? confirmMs : this.#gapMs;
  }

  /** Whether a scan was incomplete and its rest may follow. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The inputs that are complete with these characters. */
  take(characters: string, at: number): readonly TypedInput[] {
    return [...characters.replace(sequences, otherKey)].flatMap(character => this.#character(character, at));
  }

  /** No character has followed for `waitMs`: a character is a key, and anything else an incomplete scan. */
  flush(): readonly TypedInput[] {
    const text = this.#text;
    this.#text = '';
    if (text === esc) return this.#escaped();
    const plain = plainOf(text);
    if (plain === '') return [];
    this.#before = (this.#before + plain).slice(-longestScan);
    this.#isAnswered = false;
    const command = this.#isCut ? undefined : commands.get(text);
    if (command !== undefined) return [{ type: command }];
    this.#isCut = true;
    return [{ type: 'cut' }];
  }

  /** The characters until now went to a field: the next one begins an input of its own. */
  reset(): void {
    this.#clear();
    this.#lastAt = Number.NEGATIVE_INFINITY;
  }

  #clear(): void {
    this.#text = '';
    this.#before = '';
    this.#isCut = false;
    this.#isAnswered = false;
  }

  /** No scanner sends Esc alone: a person has answered. */
  #escaped(): readonly TypedInput[] {
    this.#isCut = false;
    this.#isAnswered = true;
    this.#lastAt = Number.NEGATIVE_INFINITY;
    return [{ type: 'undo' }];
  }

  #character(character: string, at: number): readonly TypedInput[] {
    const before = this.#paused(this.#gap(at));
    const gap = this.#gap(at);
    const last = this.#last;
    this.#lastAt = at;
    this.#last = character;
    return [...before, ...(isEnd(character) ? this.#entered(gap, last) : this.#typed(character))];
  }

  /** The inputs that a pause completes. */
  #paused(pause: number): readonly TypedInput[] {
    const { waitMs } = this;
    if (waitMs === null || pause < Math.min(waitMs, this.#gapMs)) return [];
    // A letter, and the next character sooner than from a person who means a command: a scan that was cut.
    if (pause < waitMs) this.#isCut = true;
    return this.flush();
  }

  /** Milliseconds since the last character. A clock that was set back has no information about the time between. */
  #gap(at: number): number {
    return Math.abs(at - this.#lastAt);
  }

  #typed(character: string): readonly TypedInput[] {
    if (character === '\x03' || character === '\x1a') {
      // A person has pressed this key: what follows is not of the same scan.
      this.#lastAt = Number.NEGATIVE_INFINITY;
      return [{ type: character === '\x03' ? 'interrupt' : 'suspend' }];
    }
    if (this.#text.length < longestScan) this.#text += character;
    return [];
  }

  #entered(gap: number, last: string): readonly TypedInput[] {
    const [text, before, wasCut, isAnswered] = [plainOf(this.#text), this.#before, this.#isCut, this.#isAnswered];
    this.#clear();
    if (wasCut) return text === '' && gap < confirmMs ? [] : [{ type: 'cut' }];
    if (text !== '') return [{ type: 'badge', text, ...(before === '' ? {} : { before }) }];
    if (gap >= confirmMs) return [{ type: 'enter', ...(before === '' || isAnswered ? {} : { before }) }];
    // Some scanners send CR and LF, or Enter twice.
    return isEnd(last) ? [] : [{ type: 'early' }];
  }
}

const isEnd = (character: string): boolean => character === '\r' || character === '\n';
