import { describe, expect, it } from 'vitest';
import { Heartbeat } from '../../daemon/notifications/consumer.ts';
import { FakeSink } from '../support/fake-stream.ts';

/** A consumer that is checked every second. */
function watched(room = 10) {
  const sink = new FakeSink(room);
  const heartbeat = new Heartbeat(sink, 0);
  let now = 0;
  return {
    sink,
    heartbeat,
    /** The first result other than `alive` within so many seconds, and when it came. */
    pass(seconds: number): string {
      for (const end = now + seconds; now < end; ) {
        now++;
        const found = heartbeat.check(now * 1000);
        if (found !== 'alive') return `${found} at ${now}`;
      }
      return 'alive';
    },
  };
}

describe('a consumer is too slow', () => {
  it('if something waited for 30 seconds and it took nothing', () => {
    const { sink, pass } = watched();
    sink.write(Buffer.alloc(100));
    expect(pass(60)).toBe('slow at 31');
  });

  it('but not if it took a single byte in that time', () => {
    const { sink, pass } = watched();
    sink.write(Buffer.alloc(100));
    expect(pass(29)).toBe('alive');
    sink.take(1);
    expect(pass(29)).toBe('alive');
    sink.take(1);
    expect(pass(60)).toBe('slow at 89');
  });

  it('but not if it took everything and new frames came', () => {
    const { sink, pass } = watched();
    for (let i = 0; i < 10; i++) {
      sink.write(Buffer.alloc(100));
      expect(pass(20)).toBe('alive');
      sink.take();
    }
    expect(sink.pings).toBe(1);
  });
});

describe('a consumer is silent', () => {
  it('if a ping is not answered before the next', () => {
    const { sink, pass } = watched();
    expect(pass(100)).toBe('silent at 60');
    expect(sink.pings).toBe(1);
  });

  it('but not if it answers', () => {
    const { sink, heartbeat, pass } = watched();
    for (let i = 1; i <= 10; i++) {
      expect(pass(30)).toBe('alive');
      expect(sink.pings).toBe(i);
      heartbeat.ponged();
    }
  });

  it('but not while frames before the ping still wait', () => {
    const { sink, pass } = watched();
    for (let i = 0; i < 10; i++) {
      sink.write(Buffer.alloc(100));
      expect(pass(20)).toBe('alive');
      sink.take(100);
      sink.write(Buffer.alloc(1));
    }
  });
});
