/** Typed words as the completion script of each shell reports them, and the form of an answer for that shell. */
import { safe } from '../../terminal/text.ts';

/** The shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof shells)[number];

/** Completions: words, or those of the shell itself. */
export type OfferedWords = 'files' | 'folders' | readonly Word[];
/** A word with its description, which may be empty. */
export type Word = readonly [word: string, description: string];

type Quote = '' | "'" | '"';
interface ShellWord {
  /** As it was typed. */
  readonly raw: string;
  /** Without quotes and backslashes. */
  readonly text: string;
  /** The quote that is still open at its end. */
  readonly quote: Quote;
}

/** The line up to the cursor. */
interface TypedWords {
  /** The words after the program's name; the last one is being typed, and may be empty. */
  readonly words: readonly string[];
  /** The answer for the shell. */
  answer(offered: OfferedWords): string;
}

/** Characters of a word that is offered. A longer one is a mistake or an attack, not something to choose. */
const maxLength = 200;

/** Whether a word can be offered: it has only characters that can be typed and shown. */
const isTypable = (word: string): boolean => word !== '' && word.length <= maxLength && safe(word) === word;

/** Reads the arguments of the script: of bash the line and the part that bash replaces, of the others the words. */
export function typedIn(shell: ShellName, given: readonly string[]): TypedWords {
  if (shell === 'bash') return typedInBash(given[0] ?? '', given[1] ?? '');
  const current = wordsOf(given.at(-1) ?? '').at(-1)!.text;
  return { words: [...given.slice(0, -1), current], answer: answerInLines };
}

/** A first line with the kind of the answer, then a word in each line with its description after a tab. */
function answerInLines(offered: OfferedWords): string {
  if (typeof offered === 'string') return `${offered}\n`;
  const lines = offered.filter(([word]) => isTypable(word)).map(([word, text]) => `${word}\t${safe(text)}\n`);
  return `words\n${lines.join('')}`;
}

/**
 * Bash replaces only what follows the last `=` or `:`, and inserts an answer as it is: characters with a meaning for the shell
 * are escaped here, in the way of the quotes that are open.
 */
function typedInBash(line: string, replaced: string): TypedWords {
  const words = wordsOf(line);
  const { raw, text, quote } = words.at(-1)!;
  const before = wordsOf(raw.slice(0, raw.length - replaced.length)).at(-1)!.text;
  const isKnown = raw.endsWith(replaced);
  return {
    words: [...words.slice(1, -1).map(word => word.text), text],
    answer(offered) {
      if (typeof offered === 'string') return `${offered}\n`;
      if (!isKnown) return 'words\n';
      const lines = offered.flatMap(([word]) => {
        const rest = isTypable(word) ? escaped(word.slice(before.length), quote, before === '') : null;
        return rest === null ? [] : [`${rest}\n`];
      });
      return `words\n${lines.join('')}`;
    },
  };
}

/** The text as a part of a word of bash; null if it cannot be written between these quotes. */
function escaped(text: string, quote: Quote, isStart: boolean): string | null {
  if (quote === "'") return text.includes("'") ? null : text;
  // A history expansion has no escape between double quotes.
  if (quote === '"') return text.includes('!') ? null : text.replace(/["\\$`]/g, '\\$&');
  const plain = text.replace(/[^\p{L}\p{N}\p{M}_.,:=@%+/~-]/gu, '\\$&');
  return isStart ? plain.replace(/^~/, '\\~') : plain;
}

const empty: ShellWord = { raw: '', text: '', quote: '' };

/** The words of a line; the last one is empty after a space. Nothing is expanded. */
function wordsOf(line: string): readonly ShellWord[] {
  const words: ShellWord[] = [];
  let word: ShellWord | null = null;
  for (const sign of signsOf(line)) {
    const current: ShellWord = word ?? empty;
    if (current.quote === '' && /^\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = continued(current, sign);
  }
  return [...words, word ?? empty];
}

/** The characters of a line, a backslash together with the one after it. */
const signsOf = (line: string): readonly string[] => line.match(/\\.|./gsu) ?? [];

/** A word with the next character. Between single quotes a backslash is a character, so the one after it can end them. */
function continued({ raw, text, quote }: ShellWord, sign: string): ShellWord {
  const more = (shown: string, next: Quote): ShellWord => ({ raw: raw + sign, text: text + shown, quote: next });
  if (sign === quote) return more('', '');
  if (quote === "'") return sign === "\\'" ? more('\\', '') : more(sign, quote);
  if (quote === '' && (sign === '"' || sign === "'")) return more('', sign);
  if (sign.length === 1 || !sign.startsWith('\\')) return more(sign, quote);
  const isEscape = quote === '' || '"\\$`'.includes(sign[1]!);
  return more(isEscape ? sign.slice(1) : sign, quote);
}
