/** The words of the page Tokens in German. */
import { grouped } from '../../text/numbers.ts';
import type { TokenWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: TokenWords = {
  title: 'Diensttoken',
  what: 'Ein Diensttoken ist für ein Programm, das sonst das Passwort einer Person bräuchte.',
  total: count => `${grouped(count)} Token`,
  empty: 'Noch wurde kein Token angelegt.',
  column: {
    name: 'Name',
    role: 'Rolle',
    may: 'Rechte',
    state: 'Zustand',
    expires: 'Läuft ab',
    used: 'Zuletzt benutzt',
    networks: 'Angenommen aus',
    by: 'Angelegt von',
    actions: 'Aktionen',
  },
  state: { valid: 'gültig', expired: 'abgelaufen', revoked: 'widerrufen' },
  anywhere: 'jedem Netz',
  permissions: 'Rechte neben der Rolle',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Richtlinien',
    scim: 'SCIM (vorgesehen: noch ohne Funktion)',
  },
  nothing: 'keine',
  create: 'Token anlegen',
  name: 'Name',
  nameHint: 'des Programms oder Arbeitsplatzes',
  days: (min, max) => `Gültig für Tage (${min} bis ${max})`,
  networks: 'Nur aus diesen Netzen annehmen (optional)',
  networksHint: 'Ein CIDR je Zeile, zum Beispiel 10.20.0.0/16. Leer: jedes Netz.',
  created: name => `Token ${name}`,
  once: 'Kopieren Sie das Token jetzt: Es wird nicht noch einmal angezeigt. Das Register speichert nur einen Hashwert davon.',
  token: 'Token',
  until: (role, time) => `Rolle: ${role}. Gültig bis ${time}.`,
  revoke: 'Widerrufen',
  revokeOf: name => `Widerrufen: ${name}`,
  askRevoke:
    'Die nächste Anfrage mit diesem Token wird abgelehnt, und seine Streams enden. Ein widerrufenes Token bleibt widerrufen.',
  madeBy: name => `Angelegt mit ${name}`,
  askRemove: 'Das Token ist widerrufen. Diese Webhooks wurden mit ihm angelegt und erhalten weiter Ereignisse:',
  removeMade: 'Webhooks entfernen',
  removeLater: 'Später entfernen:',
  removed: name => `${name} ist widerrufen, und seine Webhooks sind entfernt.`,
  revoked: name => `${name} ist widerrufen.`,
};
