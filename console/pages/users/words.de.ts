/** The words of the page Users in German. */
import { grouped } from '../../text/numbers.ts';
import type { UserWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: UserWords = {
  title: 'Benutzer',
  total: count => `${grouped(count)} Benutzer`,
  column: { name: 'Name', role: 'Rolle', email: 'E-Mail', state: 'Zustand', since: 'Angelegt', actions: 'Aktionen' },
  state: { enabled: 'aktiv', disabled: 'gesperrt', removed: 'entfernt' },
  you: 'Sie',
  action: {
    create: 'Benutzer anlegen',
    edit: 'Bearbeiten',
    password: 'Passwort',
    logout: 'Abmelden',
    disable: 'Sperren',
    enable: 'Entsperren',
  },
  of: {
    edit: name => `Bearbeiten: ${name}`,
    password: name => `Passwort von ${name}`,
    logout: name => `Abmelden: ${name}`,
    disable: name => `Sperren: ${name}`,
    enable: name => `Entsperren: ${name}`,
  },
  ask: {
    logout:
      'Alle Sitzungen dieses Benutzers enden sofort, auf jedem Rechner. Das Passwort bleibt unverändert. Diensttoken sind nicht betroffen.',
    disable:
      'Der Benutzer kann sich nicht mehr anmelden, und alle Sitzungen enden sofort. Was er getan hat, bleibt im Prüfprotokoll. Sie können ihn wieder entsperren.',
    enable: 'Der Benutzer kann sich wieder mit demselben Passwort anmelden.',
  },
  own: 'Auch diese Sitzung endet: Melden Sie sich danach erneut an.',
  ownRole: 'Ihre eigene Rolle können Sie hier nicht ändern. Ein anderer Administrator kann es.',
  username: 'Benutzername',
  usernameShape: 'ASCII-Buchstaben, Ziffern und - _ . @',
  email: 'E-Mail (optional)',
  current: 'Ihr jetziges Passwort',
  password: 'Neues Passwort',
  repeat: 'Passwort wiederholen',
  different: 'Die beiden Passwörter sind verschieden.',
  passwordEnds: 'Alle Sitzungen dieses Benutzers enden sofort.',
  done: {
    create: name => `${name} wurde angelegt.`,
    edit: name => `${name} wurde geändert.`,
    password: name => `${name} hat ein neues Passwort.`,
    logout: name => `${name} ist überall abgemeldet.`,
    disable: name => `${name} ist gesperrt.`,
    enable: name => `${name} ist entsperrt.`,
  },
};
