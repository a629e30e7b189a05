import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkNode, isNodeGood, leastNode } from '../../src/cli/node-version.ts';

describe('a Node', () => {
  it.each(['20.20.2', '22.18.9', '18.0.0'])('%s is refused by name', version => {
    expect(() => checkNode(version)).toThrow(`Node ${version} is too old`);
  });

  it.each(['22.19.0', '23.0.0', '26.10.0', '100.1.0'])('%s is good', version => {
    expect(isNodeGood(version)).toBe(true);
    expect(() => checkNode(version)).not.toThrow();
  });

  it('that is good is the one that the package names', () => {
    const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(engines.node).toBe(`>=${leastNode}.0`);
  });
});
