/**
 * The form factors of YubiKeys by their number (Yubico, "OpenPGP Attestation OID Arc"; 6 and 7 from yubikey-manager): what a key
 * claims, and how a name of its model ends. The series of 6 and 7 is in the name of the model already.
 */
export const yubikeyForms: ReadonlyMap<number, { readonly claim: string; readonly name: string }> = new Map([
  [1, { claim: 'usb-a-keychain', name: 'USB-A keychain' }],
  [2, { claim: 'usb-a-nano', name: 'USB-A nano' }],
  [3, { claim: 'usb-c-keychain', name: 'USB-C keychain' }],
  [4, { claim: 'usb-c-nano', name: 'USB-C nano' }],
  [5, { claim: 'usb-c-lightning', name: 'USB-C Lightning' }],
  [6, { claim: 'usb-a-bio', name: 'USB-A' }],
  [7, { claim: 'usb-c-bio', name: 'USB-C' }],
]);
/** Bits of the byte with the form factor (yubikey-manager, `yubikit/management.py`). */
export const formBits = { form: 0x0f, securityKey: 0x40, fips: 0x80 } as const;
