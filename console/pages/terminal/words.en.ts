/** The words of the page that signs in a terminal in English. */

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Sign in a terminal',
  name: 'It says it is',
  address: 'Its address',
  asked: 'It asked at',
  warning: 'Approve only if you have just started devmgr login --web and it shows this code.',
  effect: (user: string) => `The terminal then works as ${user}.`,
  approve: 'This is my terminal: sign it in',
  done: 'The terminal is signed in. You can close this page.',
  unknown:
    'No terminal waits with this code: it was used, or is older than five minutes. Run devmgr login --web again.',
};

/** The entries that a language has. */
export type TerminalWords = typeof en;
