/** More readers than the PC/SC binding watches, on the real service. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { PcscdConversation, parseReaders } from '../../drivers/protocols/pcscd.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { PCSC_TRANSPORTS } from '../support/pcsc-transports.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { uicc } from '../support/vcard.ts';

withPcscd('a card in the fifteenth of sixteen readers', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd({ others: 7 });
  });
  afterAll(() => pcscd.stop());

  describe.each(PCSC_TRANSPORTS)('through %s', (_, load) => {
    let driver: PcscDriver;
    let recorded: Recorder;

    beforeEach(async () => {
      driver = createPcscDriver({ load });
      recorded = recorder(driver);
      await driver.start(recorded.listener);
      await recorded.state('ready', /Virtual PCD 00 01/);
    });
    afterEach(async () => {
      await pcscd.removeAll();
      await driver.stop();
    });

    it('is read when it is inserted, and reported once when it is removed', async () => {
      for (const iccid of ['8986000000000001232', '8988211000000000006']) {
        const card = await pcscd.insert(uicc({ iccid }));
        const key = await recorded.next('attached');
        expect(key).toMatchObject({ serialNumber: iccid, serialSource: 'iccid', problem: null });
        expect(key.reader).toMatch(/^Virtual PCD/);
        await card.remove();
        expect((await recorded.next('detached')).keyId).toBe(key.keyId);
      }
      expect(recorded.kinds()).toEqual(['attached', 'detached', 'attached', 'detached']);
      expect(driver.status().detail).not.toMatch(/At most/);
    });

    it('is found again after the service was restarted', async () => {
      await pcscd.restart();
      await recorded.state('ready', /Virtual PCD 00 01/);
      await pcscd.insert(uicc({ iccid: '8986000000000001232' }), 1);
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: '8986000000000001232' });
    });
  });
});

it('the list of readers is parsed from any bytes without an error', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 600 }),
      bytes => parseReaders(Buffer.from(bytes)).length <= Math.floor(bytes.length / 184),
    ),
    { numRuns: 100_000 },
  );
});

it('a conversation sends the version, then waits for each change of the list', () => {
  const lists: string[][] = [];
  const conversation = new PcscdConversation(4, readers =>
    lists.push(readers.map(({ name, raw }) => `${name} ${raw.toString(16)}`)),
  );
  const table = Buffer.alloc(16 * 184);
  table.write('A Reader 00 00', 184);
  table.writeUInt32LE(3, 184 + 128);
  table.writeUInt32LE(4 | 8, 184 + 132);
  table.writeInt32LE(-1, 184 + 136);
  expect(conversation.greeting.toString('hex')).toBe('0c00000011000000040000000400000000000000');
  const sent = [Buffer.alloc(12), table.subarray(0, 100), table.subarray(100), Buffer.alloc(8)].map(chunk =>
    [conversation.take(chunk)].flat().map(reply => (typeof reply === 'string' ? reply : reply.toString('hex'))),
  );
  expect(sent).toEqual([['0000000013000000'], [], [], ['0000000013000000']]);
  expect(lists).toEqual([['A Reader 00 00 302a0']]);
});

it('a service that refuses the protocol version ends the conversation', () => {
  const answer = Buffer.alloc(12);
  answer.writeUInt32LE(0x8010_001e, 8);
  expect(new PcscdConversation(4, () => undefined).take(answer)).toBe('refused');
});
