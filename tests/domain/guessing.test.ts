import { describe, expect, test } from 'vitest';
import { type Confirmer, Guessing } from '../../daemon/accounts/guessing.ts';
import { MemoryCounters } from '../../daemon/store/memory/counters.ts';
import { withBothStores } from '../support/limit-stores.ts';

const second = 1000;
const minute = 60 * second;

/** The seconds of the refusal, or whether the attempt was right. */
const outcome = (attempt: Promise<boolean>) => attempt.catch(error => error.retryAfter as number);
const wrong = async () => false;
const right = async () => true;

async function repeat<T>(count: number, attempt: () => Promise<T>): Promise<T[]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push(await attempt());
  return found;
}
const times = <T>(count: number, value: T) => Array<T>(count).fill(value);

withBothStores('guessing', store => {
  const at = store.guessing;

  describe.each([
    ['an account', 7],
    ['a name that does not exist', null],
  ])('logins of %s', (_, user) => {
    const login = (guessing: Guessing, compare = wrong) => outcome(guessing.login('ada', user, compare));

    test('are blocked for 15 s by the tenth wrong password, then twice as long each time, up to 15 minutes', async () => {
      const { guessing, clock } = await at();
      expect(await repeat(10, () => login(guessing))).toEqual(times(10, false));
      const blocks = [];
      for (let i = 0; i < 8; i++) {
        const block = (await login(guessing)) as number;
        blocks.push(block);
        await clock.advance(block * second - 1);
        expect(await login(guessing)).toBe(1);
        await clock.advance(1);
        expect(await login(guessing)).toBe(false);
      }
      expect(blocks).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
    });

    test('are not compared while they are blocked, even if the password is right', async () => {
      const { guessing } = await at();
      await repeat(10, () => login(guessing));
      const compared = async () => expect.unreachable();
      expect(await login(guessing, compared)).toBe(15);
    });

    test('of other accounts and names are not affected', async () => {
      const { guessing } = await at();
      await repeat(10, () => login(guessing));
      expect(await guessing.login('bob', 8, right)).toBe(true);
      expect(await guessing.login('carl', null, wrong)).toBe(false);
    });

    test('that arrive together get no more answers than those that come one by one', async () => {
      const { guessing } = await at();
      const all = await Promise.all(Array.from({ length: 25 }, () => login(guessing)));
      expect(all).toEqual([...times(10, false), ...times(15, 15)]);
    });
  });

  describe('a right password', () => {
    test('ends the count and the doubling', async () => {
      const { guessing, clock } = await at();
      const login = (compare = wrong) => outcome(guessing.login('ada', 7, compare));
      await repeat(10, login);
      await clock.advance(15 * second);
      expect(await login(right)).toBe(true);
      expect(await repeat(10, () => login())).toEqual(times(10, false));
      expect(await login()).toBe(15);
    });

    test('is not refused because many arrive together', async () => {
      const { guessing } = await at();
      const all = await Promise.all(Array.from({ length: 50 }, () => guessing.login('ada', 7, right)));
      expect(all).toEqual(times(50, true));
    });
  });

  describe('confirmations', () => {
    const dealer = { name: 'dealer', user: 99 };
    const ada = { name: 'ada', user: 1 };
    const confirm = (guessing: Guessing, caller: Confirmer, accounts: number[], compare = wrong) =>
      outcome(guessing.confirmation(caller, accounts, compare));
    /** Ten wrong entries for an account, each by another user or service token. */
    const tenByOthers = (guessing: Guessing, account: number) =>
      repeat(10, () =>
        confirm(guessing, { name: `token:${++callers}`, user: callers % 2 ? null : callers }, [account]),
      );
    let callers = 100;

    test('by one caller are refused after ten wrong ones, until 15 minutes after the first', async () => {
      const { guessing, clock } = await at();
      let account = 0;
      const attempt = () => confirm(guessing, dealer, [++account]);
      expect(await attempt()).toBe(false);
      await clock.advance(minute);
      expect(await repeat(9, attempt)).toEqual(times(9, false));
      expect(await attempt()).toBe(14 * 60);
      await clock.advance(14 * minute);
      expect(await repeat(10, attempt)).toEqual(times(10, false));
      expect(await attempt()).toBe(15 * 60);
    });

    test('against one account are refused after ten wrong ones by several callers', async () => {
      const { guessing } = await at();
      expect(await tenByOthers(guessing, 1)).toEqual(times(10, false));
      expect(await confirm(guessing, dealer, [1], right)).toBe(900);
      expect(await confirm(guessing, dealer, [2], right)).toBe(true);
    });

    test('by others do not count against the owner of the account, who still has ten', async () => {
      const { guessing } = await at();
      await tenByOthers(guessing, 1);
      expect(await confirm(guessing, ada, [1], right)).toBe(true);
      expect(await guessing.login('ada', 1, right)).toBe(true);
      expect(await repeat(11, () => confirm(guessing, ada, [1]))).toEqual([...times(10, false), 900]);
    });

    test('by the owner do not count against others who confirm with the password of the account', async () => {
      const { guessing } = await at();
      expect(await repeat(11, () => confirm(guessing, ada, [1]))).toEqual([...times(10, false), 900]);
      expect(await confirm(guessing, dealer, [1], right)).toBe(true);
    });

    test('that are right leave the wrong ones counted', async () => {
      const { guessing } = await at();
      await repeat(9, () => confirm(guessing, dealer, [1]));
      expect(await confirm(guessing, dealer, [1], right)).toBe(true);
      expect(await repeat(2, () => confirm(guessing, dealer, [1]))).toEqual([false, 900]);
    });

    test('are compared with the accounts that are not blocked', async () => {
      const { guessing } = await at();
      await tenByOthers(guessing, 1);
      const seen: number[][] = [];
      await guessing.confirmation(dealer, [1, 2], async open => seen.push([...open]) > 0);
      expect(seen).toEqual([[2]]);
    });

    test('that were not compared, because another limit was reached, do not count', async () => {
      const { guessing } = await at();
      const refused = () => Promise.reject(new Error('refused by another limit'));
      await repeat(12, () => guessing.confirmation(ada, [1], refused).catch(() => {}));
      expect(await confirm(guessing, ada, [1], right)).toBe(true);
    });

    test('that arrive together get no more answers than those that come one by one', async () => {
      const { guessing } = await at();
      const all = await Promise.all(Array.from({ length: 15 }, () => confirm(guessing, dealer, [1, 2])));
      expect(all).toEqual([...times(10, false), ...times(5, 900)]);
    });
  });

  test('activation codes of a device are refused after ten wrong ones, until an hour after the first', async () => {
    const { guessing, clock } = await at();
    const give = (right: boolean, device = 1) => guessing.code(device, right).catch(error => String(error.message));
    expect(await repeat(10, () => give(false))).toEqual(times(10, undefined));
    expect(await give(false)).toMatch(/activation codes .* 3600 s/);
    expect(await give(true)).toMatch(/activation codes .* 3600 s/);
    expect(await give(true, 2)).toBeUndefined();
    await clock.advance(60 * minute);
    expect(await give(true)).toBeUndefined();
  });

  test('nothing is refused if the limit is off', async () => {
    const { guessing } = await at({ enabled: false });
    expect(await repeat(20, () => guessing.login('ada', 7, wrong))).toEqual(times(20, false));
    expect(await repeat(20, () => guessing.confirmation({ name: 'ada', user: 7 }, [7], wrong))).toEqual(
      times(20, false),
    );
    expect(await repeat(20, () => guessing.code(1, false))).toEqual(times(20, undefined));
  });
});

test('names that do not exist cannot push out accounts, and are themselves bounded', async () => {
  const guessing = new Guessing({ enabled: true, counters: new MemoryCounters({ most: 10 }) });
  await repeat(10, () => guessing.login('ada', 7, wrong));
  await repeat(10, () => guessing.login('no-such-user', null, wrong));
  for (let i = 0; i < 20; i++) await guessing.login(`name-${i}`, null, wrong);
  expect(await outcome(guessing.login('ada', 7, right))).toBe(15);
  expect(await outcome(guessing.login('no-such-user', null, wrong))).toBe(false);
});
