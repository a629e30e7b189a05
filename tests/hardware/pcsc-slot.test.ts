import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KeyEvent } from '../../drivers/driver.ts';
import { CardSlot, type CardSlotParts } from '../../drivers/pcsc/card-slot.ts';
import { cardOnlyKeyProfile, cardReaderProfile } from '../../drivers/pcsc/reader-profile.ts';
import type { Card, PcscReader } from '../../drivers/pcsc/transport.ts';
import { anchor } from '../proof/fixtures.ts';
import { asking } from '../support/proof-requests.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { type CardProgram, silentFrom, uicc } from '../support/vcard-programs.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';

/** Failures by call, each used once. */
type Failures = Partial<Record<'connect' | 'transaction' | 'transmit' | 'disconnect', string[]>>;

/** A reader with a card in this process. It fails on request, as no virtual card can make pcscd fail. */
function readerWith(program: CardProgram, failures: Failures) {
  const calls: string[] = [];
  async function step(name: keyof Failures, detail = ''): Promise<void> {
    calls.push(detail ? `${name} ${detail}` : name);
    const code = failures[name]?.shift();
    if (code) throw Object.assign(new Error(code), { code });
  }
  const card: Card = {
    disconnect: (how: number) => step('disconnect', String(how)),
    async reconnect() {
      calls.push('reconnect');
    },
    state: async () => ({ atr: program.atr }),
    attributeGet: async () => new Uint8Array(),
    async transaction() {
      await step('transaction');
      return {
        async end() {
          calls.push('end');
        },
      };
    },
    async transmit(command: Uint8Array) {
      await step('transmit');
      // A silent card keeps the native call.
      return program.answer(command) ?? new Promise<Uint8Array>(() => undefined);
    },
  };
  const reader: PcscReader = {
    name: () => 'A PcscReader 00 00',
    async connect(_mode: number, protocol: number) {
      await step('connect', String(protocol));
      return card;
    },
  };
  return { reader, calls: () => calls.filter(call => call !== 'transmit') };
}

describe('a card slot', () => {
  let events: KeyEvent[];
  let leaks: unknown[];

  beforeEach(() => {
    events = [];
    leaks = [];
  });

  function slotOn(reader: PcscReader, more: Partial<CardSlotParts> = {}): CardSlot {
    return new CardSlot({
      reader,
      now: () => 1,
      deadline: 5_000,
      retryAfter: 1,
      profile: cardReaderProfile('A PcscReader 00 00'),
      emit: event => events.push(event),
      traffic: () => undefined,
      notice: () => undefined,
      onLeak: cause => leaks.push(cause),
      ...more,
    });
  }

  const present = (count: number) => ({ count, mute: false, held: false });
  const kinds = () => events.map(event => event.kind);

  it('connects in shared mode by T=0, uses a transaction, and leaves the card as it was', async () => {
    const { reader, calls } = readerWith(uicc({ iccid: '8986000000000001232' }), {});
    const slot = slotOn(reader);
    slot.update(present(1));
    await slot.idle();
    expect(calls()).toEqual(['connect 1', 'transaction', 'end', 'disconnect 0']);
    expect(slot.key()).toMatchObject({ serialNumber: '8986000000000001232' });
  });

  it('connects by T=1 if the card has no T=0', async () => {
    const { reader, calls } = readerWith(uicc({ iccid: '8986000000000001232' }), { connect: ['ProtoMismatch'] });
    const slot = slotOn(reader);
    slot.update(present(1));
    await slot.idle();
    expect(calls().slice(0, 2)).toEqual(['connect 1', 'connect 3']);
    expect(slot.key()).toMatchObject({ problem: null });
  });

  it.each(['transaction', 'transmit'] as const)('reconnects once after a reset during %s', async where => {
    const { reader, calls } = readerWith(uicc({ iccid: '8986000000000001232' }), { [where]: ['ResetCard'] });
    const slot = slotOn(reader);
    slot.update(present(1));
    await slot.idle();
    expect(calls().filter(call => call === 'reconnect')).toHaveLength(1);
    expect(slot.key()).toMatchObject({ serialNumber: '8986000000000001232', problem: null });
    expect(kinds()).toEqual(['attached']);
  });

  it('reports two insertions if the card was exchanged between two events', async () => {
    const { reader } = readerWith(uicc({ iccid: '8986000000000001232' }), {});
    const slot = slotOn(reader);
    slot.update(present(1));
    await slot.idle();
    slot.update(present(3));
    await slot.idle();
    expect(kinds()).toEqual(['attached', 'detached', 'attached']);
    const ids = events.map(event => (event.kind === 'status' ? '' : event.key.keyId));
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('reads and reports a card once, however often the reader reports it', async () => {
    const { reader, calls } = readerWith(uicc({ iccid: '8986000000000001232' }), {});
    const slot = slotOn(reader);
    for (let report = 0; report < 50; report++) slot.update(present(1));
    await slot.idle();
    expect(kinds()).toEqual(['attached']);
    expect(calls().filter(call => call.startsWith('connect'))).toHaveLength(1);
  });

  it('reports nothing of a card that is removed before it can be read', async () => {
    const { reader } = readerWith(uicc({ iccid: '8986000000000001232' }), {});
    const slot = slotOn(reader);
    slot.update(present(1));
    slot.update(null);
    await slot.idle();
    expect(kinds()).toEqual([]);
  });

  describe('with a card that does not answer to power', () => {
    const muteSlot = () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const failures = { connect: Array.from({ length: 9 }, () => 'UnresponsiveCard') };
      const slot = slotOn(readerWith(uicc({ iccid: '8986000000000001232' }), failures).reader, { retryAfter: 1_000 });
      slot.update({ ...present(1), mute: true });
      return slot;
    };
    /** Moves the clock. A read that is due ends before it moves on. */
    const pass = async (slot: CardSlot, milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += 50) {
        await slot.idle();
        await vi.advanceTimersByTimeAsync(50);
      }
      await slot.idle();
    };
    afterEach(() => {
      vi.useRealTimers();
    });

    it('reports nothing if it is pulled within a second', async () => {
      const slot = muteSlot();
      await pass(slot, 1_000);
      slot.update(null);
      await pass(slot, 30_000);
      expect(kinds()).toEqual([]);
    });

    it('reports it once if it stays', async () => {
      const slot = muteSlot();
      await pass(slot, 1_050);
      expect(slot.key()?.problem).toMatch(/^The card gives no sign of life: it is upside down/);
      await pass(slot, 30_000);
      expect(kinds()).toEqual(['attached']);
      slot.close();
    });
  });

  it('reports a connection that could not be released, because the binding has few', async () => {
    const { reader } = readerWith(uicc({ iccid: '8986000000000001232' }), { disconnect: ['ReaderUnavailable'] });
    const slot = slotOn(reader);
    slot.update(present(1));
    await slot.idle();
    await slot.released();
    expect(leaks).toHaveLength(1);
  });

  it.each([
    ['to SELECT', '00A4040008A000000151'],
    ['to the key agreement', '8088'],
  ])('ends a proof if the card stays silent %s, and the next one within 30 s', async (_, from) => {
    const root = cardRoot();
    const program = silentFrom(from, yubiKey574({ root }).program);
    const { reader, calls } = readerWith(program, {});
    const key = {
      vendorId: '1050',
      productId: '0407',
      idsCertain: true,
      serial: null,
      manufacturer: null,
      product: null,
    };
    const slot = slotOn(reader, { profile: cardOnlyKeyProfile(key) });
    slot.update(present(1));
    await vi.waitUntil(() => slot.key()?.claims.firmware);
    await slot.idle();
    const limits: number[] = [];
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(limit => {
      limits.push(limit);
      return timeout(limit / 1_000);
    });
    const { request } = asking({ anchors: [anchor(root)] }, '12345678');
    const prove = () => slot.prove(request, { signal: new AbortController().signal, onTouch: () => undefined });
    await expect(prove()).rejects.toMatchObject({ code: 'timeout', message: expect.stringMatching(/does not answer/) });
    await expect(prove()).rejects.toMatchObject({ code: 'busy', message: expect.stringMatching(/still busy/) });
    expect(Math.max(...limits)).toBe(30_000);
    // The native call has not returned: the handles are released after it.
    expect(calls().filter(call => call === 'end')).toHaveLength(1);
    vi.restoreAllMocks();
    slot.close();
  });

  it('reads at once, without waiting for the retry, when another program releases the card', async () => {
    const failures = { connect: ['SharingViolation'] };
    const { reader } = readerWith(uicc({ iccid: '8986000000000001232' }), failures);
    const slot = slotOn(reader, { retryAfter: 1_000_000 });
    slot.update({ ...present(1), held: true });
    await slot.idle();
    slot.update(present(1));
    await slot.idle();
    expect(kinds()).toEqual(['attached', 'changed']);
    expect(slot.key()).toMatchObject({ serialNumber: '8986000000000001232', problem: null });
    slot.close();
  });
});
