/** The words of signing in, in German. */
import type { SignInWords } from './words.en.ts';

/** Every text in German. */
export const de: SignInWords = {
  signIn: {
    title: 'Anmelden',
    username: 'Benutzername',
    password: 'Passwort',
    submit: 'Anmelden',
    expired: 'Die Sitzung ist beendet. Melden Sie sich erneut an.',
    code: 'Dieser Link wurde schon benutzt oder ist älter als 30 Sekunden. Rufen Sie devmgr open erneut auf, oder melden Sie sich an.',
    wrong: 'Benutzername oder Passwort ist falsch.',
    withKey: 'Mit einem Sicherheitsschlüssel anmelden',
    registered: 'Der Schlüssel ist registriert. Melden Sie sich erneut an.',
    local: 'Auf dem Rechner des Dienstes öffnet `devmgr open` diese Seite angemeldet.',
  },
  stepUp: {
    title: 'Erneut anmelden',
    why: 'Diese Änderung verlangt eine Anmeldung in den letzten zehn Minuten.',
    wrong: 'Das Passwort ist falsch.',
    withKey: 'Sicherheitsschlüssel benutzen',
  },
};
