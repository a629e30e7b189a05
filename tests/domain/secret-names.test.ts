/** Names of columns that hold secrets, and first lines that are data. */
import { describe, expect, test } from 'vitest';
import { registrationFields } from '../../src/contract/readers.ts';
import { presetMapping, presets } from '../../src/enrollment/import/mapping.ts';
import { isDataLine, isSecretName, looksLikeKey } from '../../src/enrollment/import/secret-names.ts';

const secret = `KI, Ki, eKI, KI_ENC, OPC, OPc, OP, K, K4, K4_2, K4 (hex), ADM, ADM1, ADM_2, PIN, PIN1, PIN2, pin-code, PUK, PUK1, PUK2, KIC1, KIC_3,
  KID1, KID (hex), KIK1, PSK, pre-shared key, preSharedKey, seed, Seed (Base32), OTP seed, token seed, secret, Secret key, shared_secret,
  clientSecret, primary key, primaryKey, authentication.symmetricKey.primaryKey, Secondary Key, symmetric key 1, private key, PRIVATE_KEY,
  private id, AES key, access code, accessCode, access token, accessToken, management key, transport key, lock code, unlock code, lockpw,
  Password, Passwort, passphrase, Confirmation Code, Matching ID, AppKey, nwkSKey, connection string, credentials, API key, SIM PIN, Geheimzahl, Zugangscode, mot de passe, Contraseña`;
const plain = `serialNumber, Serial number, S/N, SN, ICCID, IMSI, EID, ACC, MSISDN, type, kind, model, manufacturer, Key type, key number, YubiKey serial,
  Public ID, created, Status, Asset tag, name, label, userId, UPN, activationCode, deviceId, note, tag:lot, Opening, Kilo, Pinewood, Top,
  time interval, Batch, AAGUID, Firmware, SKU, Device serial, option, KIT, kid number, Hostname, operator, mask`;
const list = (text: string) => text.split(',').map(name => name.trim());

test.each(list(secret))('%s is a secret', name => expect(isSecretName(name)).toBe(true));
test.each(list(plain))('%s is not', name => expect(isSecretName(name)).toBe(false));

test('no field and no column of a preset is a secret', () => {
  const columns = presets.flatMap(preset => Object.values(presetMapping(preset).columns).flat());
  expect([...registrationFields, ...columns].filter(isSecretName)).toEqual([]);
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
