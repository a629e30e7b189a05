/** How questions look. */
import type { Paint } from './style.ts';

/** Inquirer's own theme asks standard output whether colors are wanted; here standard error and `--no-color` decide. */
export function themeOf(tint: Paint) {
  const dim = (text: string) => tint('dim', text);
  return {
    prefix: { idle: tint('blue', '?'), done: tint('green', '✓') },
    spinner: { interval: 80, frames: ['-', '\\', '|', '/'].map(frame => tint('yellow', frame)) },
    icon: {
      cursor: '❯',
      checked: tint('green', '◉'),
      unchecked: '◯',
      disabledChecked: tint('green', '◉'),
      disabledUnchecked: '-',
    },
    style: {
      answer: (text: string) => tint('cyan', text),
      message: (text: string) => tint('bold', /[?:]$/.test(text) ? text : `${text}:`),
      error: (text: string) => tint('red', `> ${text}`),
      defaultAnswer: (text: string) => dim(`(${text})`),
      help: dim,
      highlight: (text: string) => tint('cyan', text),
      key: (text: string) => tint('cyan', `<${text}>`),
      disabled: dim,
      description: dim,
      searchTerm: (text: string) => tint('cyan', text),
      maskedText: '',
      confirmDefault: (text: string) => text.toUpperCase(),
      // The words of the lists that are searched. Inquirer has characters for the keys that need UTF-8.
      keysHelpTip: () => dim('arrow keys move, Enter chooses'),
    },
  };
}

/** How questions look on one terminal. */
export type Theme = ReturnType<typeof themeOf>;
