import { describe, expect, it } from 'vitest';
import { Pulse } from '../../daemon/notifications/pulse.ts';
import { FakeSink } from '../support/fake-stream.ts';

/** A consumer watched second by second. */
function watched(room = 10) {
  const sink = new FakeSink(room);
  const pulse = new Pulse(sink, 0);
  let now = 0;
  return {
    sink,
    pulse,
    /** What is found first within so many seconds, and when. */
    pass(seconds: number): string {
      for (const end = now + seconds; now < end; ) {
        now++;
        const found = pulse.check(now * 1000);
        if (found !== 'well') return `${found} at ${now}`;
      }
      return 'well';
    },
  };
}

describe('a consumer is too slow', () => {
  it('when something waited for 30 seconds and it took nothing', () => {
    const { sink, pass } = watched();
    sink.write(Buffer.alloc(100));
    expect(pass(60)).toBe('slow at 31');
  });

  it('not when it took a single byte meanwhile', () => {
    const { sink, pass } = watched();
    sink.write(Buffer.alloc(100));
    expect(pass(29)).toBe('well');
    sink.take(1);
    expect(pass(29)).toBe('well');
    sink.take(1);
    expect(pass(60)).toBe('slow at 89');
  });

  it('not when it took everything and new frames came', () => {
    const { sink, pass } = watched();
    for (let i = 0; i < 10; i++) {
      sink.write(Buffer.alloc(100));
      expect(pass(20)).toBe('well');
      sink.take();
    }
    expect(sink.pings).toBe(1);
  });
});

describe('a consumer is silent', () => {
  it('when a ping was not answered before the next', () => {
    const { sink, pass } = watched();
    expect(pass(100)).toBe('silent at 60');
    expect(sink.pings).toBe(1);
  });

  it('not when it answers', () => {
    const { sink, pulse, pass } = watched();
    for (let i = 1; i <= 10; i++) {
      expect(pass(30)).toBe('well');
      expect(sink.pings).toBe(i);
      pulse.ponged();
    }
  });

  it('not while frames before the ping still wait', () => {
    const { sink, pass } = watched();
    for (let i = 0; i < 10; i++) {
      sink.write(Buffer.alloc(100));
      expect(pass(20)).toBe('well');
      sink.take(100);
      sink.write(Buffer.alloc(1));
    }
  });
});
