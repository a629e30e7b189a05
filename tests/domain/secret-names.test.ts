/** Names of columns that hold secrets, and first lines that are data. */
import { describe, expect, test } from 'vitest';
import { registrationFields } from '../../src/contract/readers.ts';
import { deviceFields, listFields, personFields } from '../../src/tables/fields.ts';
import {
  DroppedSecrets,
  isDataLine,
  isSecretName,
  isSecretValue,
  looksLikeKey,
  SecretColumns,
  shownName,
} from '../../src/tables/secrets.ts';

const secret = `KI, Ki, eKI, KI_ENC, OPC, OPc, OP, K, K4, K4_2, K4 (hex), ADM, ADM1, ADM_2, PIN, PIN1, PIN2, pin-code, PUK, PUK1, PUK2, KIC1, KIC_3,
  KID1, KID (hex), KIK1, PSK, pre-shared key, preSharedKey, seed, Seed (Base32), OTP seed, token seed, secret, Secret key, shared_secret,
  clientSecret, authentication.symmetricKey.primaryKey, symmetric key 1, private key, PRIVATE_KEY,
  private id, AES key, access code, accessCode, access token, accessToken, management key, transport key, lock code, unlock code, lockpw,
  Password, Passwort, passphrase, Confirmation Code, Matching ID, AppKey, nwkSKey, connection string, credentials, API key, SIM PIN, Geheimzahl, Zugangscode, mot de passe, Contraseña`;
const plain = `serialNumber, Serial number, S/N, SN, ICCID, IMSI, EID, ACC, MSISDN, type, kind, model, manufacturer, Key type, key number, YubiKey serial,
  Public ID, created, Status, Asset tag, name, label, userId, UPN, activationCode, deviceId, note, tag:lot, Opening, Kilo, Pinewood, Top,
  time interval, Batch, AAGUID, Firmware, SKU, Device serial, option, KIT, kid number, Hostname, operator, mask, Internal ID, internalId, Primary Key, primaryKey, Secondary Key`;
const list = (text: string) => text.split(',').map(name => name.trim());

test.each(list(secret))('%s is a secret', name => expect(isSecretName(name)).toBe(true));
test.each(list(plain))('%s is not', name => expect(isSecretName(name)).toBe(false));

describe('a primary key is a secret by its value', () => {
  const keys = [
    '000102030405060708090A0B0C0D0E0F',
    '0x00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f',
    'AAECAwQFBgcICQoLDA0ODw==',
    'AAECAwQFBgcICQoLDA0ODw',
    '3q2-7wABAgMEBQYHCAkKC_wNDg8QERITFBUWFxgZGhs',
  ];
  test.each(keys)('%s is a key', value => {
    for (const name of ['Primary Key', 'primaryKey', 'Azure secondary_key'])
      expect(isSecretValue(name, value)).toBe(true);
    expect(isSecretValue('Serial number', value)).toBe(false);
  });
  test.each(['', '17', '4711-0815', 4711, null, '123456789012345678901234', '6F9619FF-8B86-D011-B42D-00CF4FC964FF'])(
    '%s is none',
    value => expect(isSecretValue('Primary Key', value)).toBe(false),
  );
  test('of a name that is a secret, every value is one', () => expect(isSecretValue('PIN', '1')).toBe(true));
});

describe('the lines of a file with a column Primary Key', () => {
  const [key] = ['000102030405060708090A0B0C0D0E0F'];
  const columns = () => new SecretColumns(['serial', 'Primary Key', 'note'], index => index > 0);
  test('have no secret while its values are numbers, also if a serial number looks like a key', () => {
    const secrets = columns();
    expect([[key!, '17', ''], ['S-2', '18'], []].map(cells => secrets.areIn(cells))).toEqual([false, false, false]);
    expect(secrets.isSecret(1, '17')).toBe(false);
  });
  test('have secrets from the first key on, in its column or in a line with another number of cells', () => {
    for (const line of [['S-1', key!, ''], [key!]]) {
      const secrets = columns();
      expect([secrets.areIn(['S-0', '17', '']), secrets.areIn(line), secrets.areIn(['S-2', '', ''])]).toEqual([
        false,
        true,
        true,
      ]);
    }
    expect(columns().isSecret(1, key!)).toBe(true);
    expect(columns().isSecret(0, key!)).toBe(false);
  });
});

test('no field and no name of the dictionary is a secret', () => {
  const names = [...deviceFields, ...personFields, ...listFields].flatMap(({ field, words, weak = [] }) => [
    ...(field === 'activationCode' ? [] : [field]),
    ...words.flat(),
    ...weak,
  ]);
  expect([...registrationFields, ...names].filter(isSecretName)).toEqual([]);
});

describe('a line of data is not shown as a header', () => {
  test.each([
    ['OATH00012345,3132333435363738393031323334353637383930,HOTP,6', true],
    ['A,JBSWY3DPEHPK3PXP', true],
    ['serialNumber,model,Key type', false],
    ['Brand,Name', false],
  ])('%s: %s', (line, isData) => expect(isDataLine(line.split(','))).toBe(isData));
  test.each(['S/N', 'MANUFACTURERNAME', 'authenticationSymmetricKeyPrimaryKey'])('%s is not a key', name =>
    expect(looksLikeKey(name)).toBe(false),
  );
});

describe('a name with a key in it is a line of data', () => {
  const line = '*{"serialNumber":"A-1","KI":"000102030405060708090A0B0C0D0E0F","model":"K1"}';
  test('and is not shown, nor named among the secrets that were dropped', () => {
    expect(shownName(line)).toBe('…');
    const dropped = new DroppedSecrets();
    dropped.note(line);
    expect(dropped.words).toBe('Secrets were dropped while reading, not sent and not stored: … (1 value).');
  });
  test.each([...list(secret), ...list(plain)])('%s is shown', name => expect(shownName(name)).toBe(name));
});
