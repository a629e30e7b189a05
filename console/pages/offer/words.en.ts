/** The words of the question whether a link may sign the tab in, in English. */
export const en = {
  title: (name: string, host: string) => `Continue as ${name} on ${host}?`,
  why: 'A link has opened this page with this account. Continue only if it is yours: what you do is recorded in its name.',
  present: (name: string) => `This tab is signed in as ${name}. If you continue, that session ends in this tab.`,
  accept: (name: string) => `Continue as ${name}`,
  refuse: 'Do not continue',
  stay: (name: string) => `Stay signed in as ${name}`,
  invalid: 'This link does not work',
};

/** The entries that a language has. */
export type OfferWords = typeof en;
