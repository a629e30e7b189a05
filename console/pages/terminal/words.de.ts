/** The words of the page that signs in a terminal, in German. */
import type { TerminalWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: TerminalWords = {
  title: 'Ein Terminal anmelden',
  name: 'Es nennt sich',
  address: 'Seine Adresse',
  asked: 'Angefragt um',
  warning: 'Stimmen Sie nur zu, wenn Sie gerade devmgr login --web gestartet haben und es diesen Code zeigt.',
  effect: user => `Das Terminal arbeitet dann als ${user}.`,
  approve: 'Das ist mein Terminal: anmelden',
  done: 'Das Terminal ist angemeldet. Sie können diese Seite schließen.',
  unknown:
    'Kein Terminal wartet mit diesem Code: Er wurde benutzt oder ist älter als fünf Minuten. Rufen Sie devmgr login --web erneut auf.',
};
