import { toHex } from '../../drivers/protocols/hex.ts';
import { type CardOptions, TestScp11bCard } from './test-scp11b-card.ts';
import { type CardProgram, yubiKeyCard } from './vcard.ts';

const SECURITY_DOMAIN = 'A000000151000000';

/** A YubiKey 5.7.4 with serial 12345678: the application that reports it, and a security domain that answers SCP11b. */
export function yubiKey574(options: Pick<CardOptions, 'root'> & Partial<CardOptions>) {
  const domain = new TestScp11bCard({ serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, ...options });
  const management = yubiKeyCard({ serial: '00BC614E', version: '050704' });
  let current: CardProgram['answer'] = management.answer;
  const program: CardProgram = {
    ...management,
    answer(command) {
      const hex = toHex(command);
      const selects = hex.startsWith('00A404');
      if (selects) current = hex.includes(SECURITY_DOMAIN) ? bytes => domain.answer(bytes) : management.answer;
      return current(command);
    },
  };
  return { domain, program };
}
