/** A YubiKey 5.7.4 is plugged in and proves its serial number by SCP11b: how long after the kernel listed it the verdict is there. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { asking, judged } from '../../support/proof-requests.ts';
import { Bench, DriverEvents } from '../harness.ts';
import { listedAt, summary } from '../kernel.ts';

const PROOFS = Number(process.argv[2] ?? 20);
const SERIAL = '12345678';
const now = (): number => performance.timeOrigin + performance.now();

/** When each command and answer passed the smart card interface. */
const apdus: number[] = [];
const pcsc = createPcscDriver({ traffic: () => apdus.push(now()) });
const hid = createHidDriver({ keyCards: pcsc.keyCards });
const bench = new Bench();
const events = new DriverEvents(hid, pcsc);
await events.start();
const der = await bench.root('scp11b');
const trust = { anchors: [{ der, fingerprint: 'lab', label: 'lab', purpose: 'scp11b', aaguids: [] }] } as const;

/** Milliseconds of each proof, in the order of what happens. */
const verdicts: number[] = [];
const steps = new Map<string, number[]>();
const step = (name: string, milliseconds: number) => steps.set(name, [...(steps.get(name) ?? []), milliseconds]);

for (let proof = 0; proof < PROOFS; proof += 1) {
  const from = events.all.length;
  apdus.length = 0;
  const { id } = await bench.plug({ model: 'yubikey574' });
  const { key, at: reported } = await events.until('the key', one => one.kind === 'attached', from, 30_000);
  const asked = asking(trust, SERIAL, 'scp11b');
  const evidence = await hid.prove(key.keyId, asked.request, {
    signal: AbortSignal.timeout(20_000),
    onTouch: () => assert.fail('a touch was asked for'),
  });
  const { proof: verdict } = judged(evidence, asked);
  const at = now();
  assert.deepEqual([verdict.grade, verdict.serial], ['unit', SERIAL], verdict.warnings.join(' '));
  const listed = listedAt({ vendorId: '1050', productId: '0406', serial: null })!;
  verdicts.push(at - listed);
  step('key reported', reported - listed);
  step('smart card interface there', apdus[0]! - reported);
  step(`${apdus.length / 2} commands answered`, apdus.at(-1)! - apdus[0]!);
  step('judged', at - apdus.at(-1)!);
  await bench.unplug(id);
  await events.until('its unplugging', one => one.kind === 'detached' && one.key.keyId === key.keyId, from);
}
console.log(
  `  ${summary('verdict after the kernel listed the key', verdicts)}; the first one ${verdicts[0]!.toFixed(0)} ms`,
);
for (const [name, values] of steps) console.log(`    ${summary(name, values)}`);
await Promise.all([hid.stop(), pcsc.stop()]);
await bench.end();
