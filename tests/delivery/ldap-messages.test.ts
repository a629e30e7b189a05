/** Answers of a directory that is broken or malicious. */
import { afterEach, describe, expect, it } from 'vitest';
import type { DirectoryConfig } from '../../daemon/directory/decisions.ts';
import { DirectoryFailure } from '../../daemon/directory/ldap/connection.ts';
import { checkMessage, MalformedMessage, messageLength } from '../../daemon/directory/ldap/messages.ts';
import { DirectoryReader } from '../../daemon/directory/ldap/reader.ts';
import { mulberry } from '../support/mulberry.ts';
import { answering } from '../support/slapd.ts';

const tlv = (tag: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map(part => Buffer.from(part)));
  const long = [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(content.length < 0x80 ? [content.length] : long)]), content]);
};
const number = (tag: number, value: number) => tlv(tag, Buffer.from([value]));
const message = (id: number, ...parts: readonly Buffer[]) => tlv(0x30, number(2, id), ...parts);
const attribute = (type: string, ...values: readonly string[]) =>
  tlv(0x30, tlv(4, type), tlv(0x31, ...values.map(value => tlv(4, value))));
const entry = (id: number, ...attributes: readonly Buffer[]) =>
  message(id, tlv(0x64, tlv(4, 'uid=ada'), tlv(0x30, ...attributes)));
const paged = (cookie: string) =>
  tlv(0xa0, tlv(0x30, tlv(4, '1.2.840.113556.1.4.319'), tlv(4, tlv(0x30, number(2, 0), tlv(4, cookie)))));
const done = (id: number, ...controls: readonly Buffer[]) =>
  message(id, tlv(0x65, number(0x0a, 0), tlv(4, ''), tlv(4, '')), ...controls);

describe('a message', () => {
  it('is accepted if all lengths fit', () => {
    expect(checkMessage(entry(2, attribute('uid', 'ada', 'b'), attribute('mail')))).toEqual({
      kind: 'entry',
      cookie: null,
    });
    expect(checkMessage(done(2, paged('abc')))).toEqual({ kind: 'done', cookie: Buffer.from('abc') });
    expect(messageLength(Buffer.from([0x30, 0x82, 0x01]))).toBeNull();
    expect(messageLength(Buffer.from([0x30, 0x82, 0x01, 0x02]))).toBe(4 + 0x102);
  });

  it.each([
    [
      'a value whose length is beyond the end',
      entry(2, tlv(0x30, tlv(4, 'uid'), tlv(0x31, Buffer.from([4, 0x50, 1])))),
    ],
    ['a length whose bytes are missing', entry(2, tlv(0x30, tlv(4, 'uid'), tlv(0x31, Buffer.from([4, 0x84, 1]))))],
    ['an indefinite length', entry(2, Buffer.from([0x30, 0x80, 0, 0]))],
    ['attributes that are text', message(2, tlv(0x64, tlv(4, ''), tlv(4, Buffer.from([4, 0x50]))))],
    [
      'controls within the operation',
      message(2, tlv(0x65, number(0x0a, 0), tlv(4, ''), tlv(4, ''), tlv(0xa0, 'aaaa'))),
    ],
    ['controls that are text', done(2, tlv(0xa0, Buffer.from([4, 0x7f])))],
    ['an operation that no one asked for', message(0, tlv(0x78, number(0x0a, 52), tlv(4, ''), tlv(4, '')))],
    ['no operation', message(2)],
  ])('is refused with %s', (_, bytes) => {
    expect(() => checkMessage(bytes)).toThrow(MalformedMessage);
  });

  it('is accepted or refused, whatever its bytes are', () => {
    const random = mulberry(7);
    const whole = [entry(2, attribute('uid', 'ada')), done(2, paged('abc'))];
    for (let i = 0; i < 20_000; i++) {
      const bytes = Buffer.from(whole[i % 2]!);
      for (let flips = 1 + (i % 3); flips > 0; flips--)
        bytes[2 + Math.floor(random() * (bytes.length - 2))] = Math.floor(random() * 256);
      try {
        checkMessage(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedMessage);
      }
    }
  });
});

describe('a directory', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(() => Promise.all(stops.splice(0).map(stop => stop())));

  const unnamed = { userName: null, name: null, email: null, id: null, disabled: null, groups: null };
  /** Reads from a server that answers its requests with these bytes. */
  async function read(answers: readonly Buffer[], signal = new AbortController().signal): Promise<number> {
    const server = await answering(answers);
    stops.push(server.stop);
    const config: DirectoryConfig = {
      name: null,
      url: server.url,
      base: 'dc=example,dc=com',
      filter: null,
      attributes: unnamed,
      groups: [],
      bindDn: null,
      sealed: null,
      ca: null,
      everyMinutes: 1,
      fullEveryMinutes: 1,
    };
    return DirectoryReader.with(config, null, signal, async reader => {
      let found = 0;
      for await (const { entries } of reader.read(null)) found += entries.length;
      return found;
    });
  }

  // The answers to the search of the server's own entry (2) and to the first page (3).
  const pageWith = (...parts: readonly Buffer[]) => [Buffer.concat([entry(2), done(2)]), Buffer.concat(parts)];
  const ada = entry(3, attribute('uid', 'ada'), attribute('entryUUID', 'id-1'));

  it('is read to the end', async () => {
    expect(await read(pageWith(ada, done(3, paged(''))))).toBe(1);
  });

  it('is not followed to another server', async () => {
    const reference = message(3, tlv(0x73, tlv(4, 'ldap://elsewhere.example.com/dc=example')));
    expect(await read(pageWith(reference, ada, done(3, paged(''))))).toBe(1);
  });

  it.each([
    ['does not return pages', pageWith(ada, done(3))],
    ['sends more entries than a page has', pageWith(...Array(251).fill(ada), done(3, paged('')))],
    ['sends a message that is not valid', pageWith(message(3, tlv(0x73, Buffer.from([4, 0x7f])), tlv(0xa0, 'aaa')))],
    [
      'sends a message that is not valid: more parts than expected',
      pageWith(entry(3, attribute('uid', 'ada'), attribute('memberOf', ...Array(10_000).fill('')))),
    ],
    ['sends a message that is not valid: it has more', pageWith(Buffer.from([0x30, 0x84, 0x7f, 0, 0, 0]))],
    ['sends a message that is not valid: not LDAP', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
  ])('%s: nothing is read', async (problem, answers) => {
    await expect(read(answers)).rejects.toThrow(problem);
    await expect(read(answers)).rejects.toBeInstanceOf(DirectoryFailure);
  });

  it('is given up when the daemon stops', async () => {
    const stop = new AbortController();
    const reading = read([], stop.signal);
    stop.abort();
    await expect(reading).rejects.toThrow('was canceled');
  });
});
