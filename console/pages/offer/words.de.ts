/** The words of the question whether a link may sign the tab in, in German. */
import type { OfferWords } from './words.en.ts';

/** Every text of the question. */
export const de: OfferWords = {
  title: (name, host) => `Auf ${host} als ${name} fortfahren?`,
  why: 'Ein Link hat diese Seite mit diesem Konto geöffnet. Fahren Sie nur fort, wenn es Ihr Konto ist: Was Sie tun, wird unter diesem Namen festgehalten.',
  present: name => `In diesem Tab ist ${name} angemeldet. Wenn Sie fortfahren, endet diese Sitzung hier.`,
  accept: name => `Als ${name} fortfahren`,
  refuse: 'Nicht fortfahren',
  stay: name => `Als ${name} angemeldet bleiben`,
  invalid: 'Dieser Link funktioniert nicht',
};
