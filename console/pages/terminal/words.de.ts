/** The words of the page that signs in a terminal, in German. */
import type { TerminalWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: TerminalWords = {
  title: 'Ein Terminal anmelden',
  code: 'Code, den das Terminal zeigt',
  show: 'Weiter',
  name: 'Es nennt sich',
  address: 'Seine Adresse',
  asked: 'Angefragt um',
  warning:
    'Stimmen Sie nur zu, wenn Sie gerade devmgr login --web gestartet und den Code auf dessen Terminal gelesen haben.',
  effect: user => `Das Terminal arbeitet dann als ${user}.`,
  approve: 'Das ist mein Terminal: anmelden',
  done: 'Das Terminal ist angemeldet. Sie können diese Seite schließen.',
  unknown:
    'Kein Terminal wartet mit diesem Code: Er ist falsch, wurde benutzt oder ist älter als fünf Minuten. Vergleichen Sie ihn mit dem Terminal, oder rufen Sie devmgr login --web erneut auf.',
};
