/** The number of a key that reports none: printed on it, or made by the registry. */
import { randomBytes } from 'node:crypto';
import type { Key } from '../../../../contract/hardware.ts';
import { faultOf } from '../../../../contract/readers.ts';
import { activationAlphabet } from '../../../../contract/values.ts';
import { scanGapMs } from '../../../../enrollment/line/keyboard.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { recognitionOf } from '../../../framework/devices/registration.ts';
import { askText } from '../../../terminal/prompt.ts';
import { safe } from '../../../terminal/text.ts';

/** How such a key gets its number. `ask`: at the terminal; without one it is not enrolled. */
export type OwnNumber = { readonly kind: 'ask' | 'auto' } | { readonly kind: 'printed'; readonly number: string };

interface NumberingOptions {
  readonly ownNumber: OwnNumber;
  readonly dryRun: boolean;
  /** The file in which keys wait while the registry is away; null if none do. */
  readonly spool: string | null;
}

/** The key with its number. Unchanged if it reports one, if it is not a UKEY, or if no terminal can ask for the number. */
export async function ownNumbered(
  context: Context,
  key: Key,
  { ownNumber, dryRun, spool }: NumberingOptions,
): Promise<Key> {
  if (key.serialNumber !== null || key.deviceType !== 'UKEY' || dryRun) return key;
  const recognition = recognitionOf(context);
  // While the registry is away, the number of a label is as good as any that is printed on a key.
  if (ownNumber.kind === 'auto') return recognition.numbered(key, spool === null ? null : madeNumber());
  if (ownNumber.kind === 'printed') return recognition.numbered(key, checkedNumber(ownNumber.number));
  return context.canAsk ? recognition.numbered(key, await askedNumber(context, key)) : key;
}

function madeNumber(): string {
  const symbols = Array.from(randomBytes(10), byte => activationAlphabet[byte % activationAlphabet.length]).join('');
  return `DM-${symbols.slice(0, 5)}-${symbols.slice(5)}`;
}

/** Throws a usage fault. */
function checkedNumber(number: string): string {
  const fault = faultOf('serialNumber', number);
  if (fault !== null) throw usage(`--printed: ${fault}`);
  return number;
}

const check = (number: string): string | null => faultOf('serialNumber', number);

/** Typed twice, because a wrong digit is the number of another key; a scanner makes no such mistake. */
async function askedNumber({ out, io }: Context, { manufacturer, model }: Key): Promise<string> {
  const what = safe([manufacturer, model].filter(Boolean).join(' ') || 'this key');
  for (;;) {
    const typing = typingOf(io.stdin);
    const first = await askText(out, `${what} reports no serial number. Scan or type the number printed on it:`, check);
    if (typing.end() === 'scanned') return first;
    if ((await askText(out, 'Type it again:')) === first) return first;
    out.notice('The two numbers differ.');
  }
}

/** Whether characters come as fast as only a scanner sends them. */
function typingOf(stdin: NodeJS.ReadableStream): { end(): 'typed' | 'scanned' } {
  let [last, isSlow, characters] = [0, false, 0];
  const onData = (data: Buffer | string): void => {
    const now = performance.now();
    if (last > 0 && now - last > scanGapMs) isSlow = true;
    last = now;
    characters += data.length;
  };
  stdin.on('data', onData);
  return {
    end() {
      stdin.off('data', onData);
      return characters > 1 && !isSlow ? 'scanned' : 'typed';
    },
  };
}
