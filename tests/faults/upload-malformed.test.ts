import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { boundary, file, filesIn, formBytes, needed, sendForm, uploadPath } from '../support/forms.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

const valid = formBytes([...needed('ANDROID', '1.0.0'), ['changelog', 'text'], file('a.apk', 'x'.repeat(300))]);
const tokens = fc.constantFrom(
  '\r\n',
  '\n',
  '\r',
  '--',
  `--${boundary}`,
  `\r\n--${boundary}`,
  `\r\n--${boundary}--`,
  `\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="b.apk"\r\n\r\n`,
  'Content-Disposition: form-data',
  '; name="version"',
  "; filename*=UTF-8''%ff",
  'Content-Type: multipart/mixed; boundary=x',
  '\r\n\r\n',
  '"',
  '\\',
  '\0',
  ':',
);
const bytes = fc.oneof(
  tokens.map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 20 }).map(Buffer.from),
);
/** Replaces `length` bytes at `at` by others. */
const edit = fc.record({ at: fc.nat(valid.length), length: fc.oneof(fc.constant(0), fc.nat(60)), bytes });

it('a form with random changes is accepted or refused at once: never a 500, never a hang, and a refused form leaves no file', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async edits => {
      const form = edits.reduce(
        (form, { at, length, bytes }) => Buffer.concat([form.subarray(0, at), bytes, form.subarray(at + length)]),
        valid,
      );
      const before = (await filesIn(daemon)).length;
      // A form that the daemon waits for would end after a minute, with another code.
      const { code } = await sendForm(daemon, uploadPath, form);
      expect([200, 1001, 4002]).toContain(code);
      expect(await filesIn(daemon)).toHaveLength(before + (code === 200 ? 1 : 0));
    }),
    { numRuns: 1500 },
  );
});
