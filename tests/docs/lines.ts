import { blocksOf } from './shell.ts';

/** A call of a program: its words without quotes, the program first. */
export type Call = readonly string[];

/** Words that may stand before a command. */
const before = /^(?:if|then|else|elif|while|until|do|!|exec|time|sudo|env|\w+=.*)$/s;

/**
 * The calls in a piece of shell: pipelines, lists, `$(…)` and here-documents are taken apart, redirections and comments are
 * left out, variables stay as they are written. Enough for what documentation shows.
 */
export function callsIn(code: string): Call[] {
  const calls: Call[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let skipNext = false;
  const endWord = () => {
    if (word !== null && !skipNext) words.push(word);
    if (word !== null) skipNext = false;
    word = null;
  };
  const endCall = () => {
    endWord();
    const start = words.findIndex(text => !before.test(text));
    if (start >= 0) calls.push(words.slice(start));
    words = [];
    skipNext = false;
  };
  for (let at = 0; at < code.length; at++) {
    const letter = code[at]!;
    const nested = code.startsWith('$(', at) ? endOfSubstitution(code, at) : -1;
    if (nested > 0) {
      calls.push(...callsIn(code.slice(at + 2, nested)));
      word = `${word ?? ''}$(…)`;
      at = nested;
    } else if (letter === '\\') {
      const next = code[++at];
      if (next !== '\n') word = (word ?? '') + (next ?? '');
    } else if (letter === "'") {
      const end = code.indexOf("'", at + 1);
      word = (word ?? '') + code.slice(at + 1, end < 0 ? code.length : end);
      at = end < 0 ? code.length : end;
    } else if (letter === '"') {
      const { text, end, inner } = quoted(code, at);
      calls.push(...inner);
      word = (word ?? '') + text;
      at = end;
    } else if (letter === '#' && word === null) {
      const end = code.indexOf('\n', at);
      at = (end < 0 ? code.length : end) - 1;
    } else if (letter === '>' || letter === '<') {
      if (word !== null && /^\d$/.test(word)) word = null;
      endWord();
      skipNext = true;
      while (/[<>&]/.test(code[at + 1] ?? '')) at++;
    } else if (/[\n;|&(){}]/.test(letter) && !(/[{}]/.test(letter) && word !== null)) endCall();
    else if (/\s/.test(letter)) endWord();
    else word = (word ?? '') + letter;
  }
  endCall();
  return calls;
}

function endOfSubstitution(code: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === "'") at = code.indexOf("'", at + 1);
    else if (code[at] === '(') depth++;
    else if (code[at] === ')' && --depth === 0) return at;
    if (at < 0) return -1;
  }
  return -1;
}

function quoted(code: string, start: number): { text: string; end: number; inner: Call[] } {
  const inner: Call[] = [];
  let text = '';
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '"') return { text, end: at, inner };
    const nested = code.startsWith('$(', at) ? endOfSubstitution(code, at) : -1;
    if (nested > 0) {
      inner.push(...callsIn(code.slice(at + 2, nested)));
      text += '$(…)';
      at = nested;
    } else if (code[at] === '\\') text += code[++at] ?? '';
    else text += code[at];
  }
  return { text, end: code.length, inner };
}

/** The typed part of a block of a session: the lines after a prompt, with those that continue them. */
export function typedIn(session: string): string {
  const typed: string[] = [];
  let continues = false;
  for (const line of session.split('\n')) {
    const text: string | undefined = continues ? line : /^[$#] (.*)$/.exec(line)?.[1];
    if (text === undefined) continue;
    if (!continues && line.startsWith('#')) continue;
    typed.push(text);
    continues = text.endsWith('\\');
  }
  return typed.join('\n');
}

/** Code within a line of prose. */
export function inlineCodeOf(page: string): string[] {
  const prose = page.replace(/^(`{3,})[\s\S]*?^\1/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
}

export interface Written {
  readonly call: Call;
  /** Within a sentence, where arguments may be left out. */
  readonly inline: boolean;
}

/** Every call that a page shows, in blocks and in sentences. */
export function callsOf(page: string): Written[] {
  const sh = blocksOf(page, 'sh').map(({ code }) => code);
  const sessions = ['console', 'console recorded', 'text'].flatMap(info => blocksOf(page, info));
  const blocks = [...sh, ...sessions.map(({ code }) => typedIn(code))].flatMap(callsIn);
  return [
    ...blocks.map(call => ({ call, inline: false })),
    ...inlineCodeOf(page)
      .flatMap(callsIn)
      .map(call => ({ call, inline: true })),
  ];
}
