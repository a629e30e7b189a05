/** Files of results and of spooled keys with any texts, cut at every byte: only complete rows count. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { EnrollFile } from '../../src/cli/commands/enrollment/enroll/results.ts';
import { Fault } from '../../src/cli/fault.ts';
import { resultRows } from '../../src/cli/jobs/result-rows.ts';
import type { EnrollmentOutcome } from '../../src/enrollment/outcome.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const outcome: fc.Arbitrary<EnrollmentOutcome> = fc
  .record({ userId: text, serialNumber: text, manufacturer: text, name: fc.option(text), message: fc.option(text) })
  .map(values => ({
    ...{ result: 'registered', deviceId: 'DEV-1', deviceType: 'UKEY', activationCode: null, status: 'ACTIVE' },
    ...{ model: 'One', firmwareVersion: null, serialSource: null, simulated: false, failure: null },
    ...values,
  }));
const options = { proof: null, tags: null, isRoster: true };

/** The persons of the rows that count. */
async function personsIn(path: string): Promise<unknown[]> {
  const persons: unknown[] = [];
  for await (const { userId } of resultRows(path, () => {})) persons.push(userId);
  return persons;
}

/** A file whose rows are all torn may be refused. */
function refused(error: unknown): [] {
  if (error instanceof Fault) return [];
  throw error;
}

async function cutEverywhere(path: string, rows: readonly EnrollmentOutcome[]): Promise<void> {
  const file = EnrollFile.unlocked(path, options);
  for (const row of rows) await file.add(row);
  const whole = readFileSync(path);
  const all = await personsIn(path);
  assert.equal(all.length, rows.length, 'a whole file does not have all its rows');
  const [header, next] = whole.toString().split('\n');
  for (let end = path.endsWith('csv') ? header!.length + 1 : 1; end < whole.length; end++) {
    const cut = whole.subarray(0, end);
    writeFileSync(path, cut);
    const persons = await personsIn(path).catch(refused);
    const which = `cut at byte ${end}: ${whole.toString('hex')}`;
    assert.ok(persons.length < rows.length, which);
    if (end === whole.length - 1) assert.equal(persons.length, rows.length - 1, which);
    assert.deepEqual(persons, all.slice(0, persons.length), which);
    // An earlier release has started the next row on a new line.
    writeFileSync(path, Buffer.concat([cut, Buffer.from(`\n${path.endsWith('csv') ? next : header}\n`)]));
    for (const person of await personsIn(path).catch(refused)) assert.ok(all.includes(person), which);
  }
}

/** Returns the faults of `count` files, as texts. */
export async function tryCutFiles({ seed, count }: { seed: number; count: number }): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-fuzz-files-'));
  const kinds = fc.constantFrom('results.csv', 'results.jsonl');
  const files = fc.asyncProperty(kinds, fc.array(outcome, { minLength: 1, maxLength: 3 }), async (name, rows) => {
    const path = join(folder, name);
    rmSync(path, { force: true });
    await cutEverywhere(path, rows);
  });
  const details = await fc.check(files, { seed, numRuns: count });
  rmSync(folder, { recursive: true });
  return details.failed
    ? [`cut files, seed ${seed}: ${fc.defaultReportMessage(details)} ${details.errorInstance}`]
    : [];
}
