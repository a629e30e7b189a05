/** The words of the account page in German. */
import type { AccountWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: AccountWords = {
  mustRegister:
    'Sie müssen sich mit einem Sicherheitsschlüssel anmelden und haben noch keinen. Registrieren Sie einen, und melden Sie sich dann erneut an.',
  keys: 'Sicherheitsschlüssel',
  keysHint:
    'Mit einem Schlüssel melden Sie sich ohne Passwort an, oder nach dem Passwort. Er gilt nur für den Namen, für den er registriert wurde.',
  noKeys: 'Sie haben noch keinen Schlüssel.',
  keyName: 'Name des Schlüssels',
  keyExample: 'zum Beispiel: Schreibtisch',
  site: 'Gilt für',
  registered: 'Registriert',
  lastUsed: 'Zuletzt benutzt',
  add: 'Schlüssel registrieren',
  cannot:
    'Browser benutzen Sicherheitsschlüssel nur über HTTPS und auf localhost. Öffnen Sie die Konsole unter einer solchen Adresse, um einen zu registrieren.',
  requireOwn: 'Für dieses Konto bei jeder Anmeldung einen Schlüssel verlangen',
  removeTitle: name => `Den Schlüssel ${name} entfernen?`,
  removeHint: 'Er meldet Sie nicht mehr an. Er kann nicht noch einmal registriert werden.',
  policy: 'Wer einen Schlüssel haben muss',
  policyHint:
    'Benutzer dieser Rollen melden sich nach dem Passwort mit einem Schlüssel an. Wer keinen hat, kann nur einen registrieren. Verlangen Sie Schlüssel von einer Rolle, nachdem ihre Benutzer sie registriert haben.',
  policyRoles: 'Rollen',
};
