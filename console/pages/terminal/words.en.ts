/** The words of the page that signs in a terminal in English. */

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Sign in a terminal',
  code: 'Code that the terminal shows',
  show: 'Continue',
  name: 'Its name for itself',
  address: 'Its address',
  asked: 'It asked at',
  warning: 'Approve only if you have just started devmgr login --web and read the code on its terminal.',
  effect: (user: string) => `The terminal then works as ${user}.`,
  approve: 'This is my terminal: sign it in',
  done: 'The terminal is signed in. You can close this page.',
  unknown:
    'No terminal waits with this code: it is wrong, was used, or is older than five minutes. Compare it with the terminal, or run devmgr login --web again.',
};

/** The entries that a language has. */
export type TerminalWords = typeof en;
