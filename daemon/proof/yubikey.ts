/** Names of YubiKeys from what their certificates say. */

/** Form factors (Yubico, "OpenPGP Attestation OID Arc"; 6 and 7 from yubikey-manager). */
const forms: ReadonlyMap<number, string> = new Map([
  [1, 'USB-A keychain'],
  [2, 'USB-A nano'],
  [3, 'USB-C keychain'],
  [4, 'USB-C nano'],
  [5, 'USB-C Lightning'],
  [6, 'USB-A'],
  [7, 'USB-C'],
]);
const BIO: ReadonlySet<number> = new Set([6, 7]);
/** Bits of the byte with the form factor (yubikey-manager, `yubikit/management.py`). */
const FLAG = { securityKey: 0x40, fips: 0x80 } as const;

/** For example `YubiKey 5 FIPS (USB-C nano)`. Null: the certificate does not say it. */
export function yubikeyName(firmware: string | null, formFactor: number | null): string {
  const form = formFactor === null ? 0 : formFactor & 0x0f;
  const flags = formFactor ?? 0;
  const series =
    flags & FLAG.securityKey
      ? 'Security Key by Yubico'
      : BIO.has(form)
        ? 'YubiKey Bio'
        : `YubiKey${firmware ? ` ${firmware.split('.')[0]}` : ''}`;
  const shape = forms.get(form);
  return `${series}${flags & FLAG.fips ? ' FIPS' : ''}${shape ? ` (${shape})` : ''}`;
}
