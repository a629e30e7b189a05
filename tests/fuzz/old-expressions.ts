/**
 * Loaded before a daemon (`node --import`): puts back two expressions that once held it for seconds, in memory only. It reports
 * on stderr what it put back, so that a test notices if a function has gone.
 */
import { registerHooks } from 'node:module';

/** Functions by name, and the statement that each of them then begins with. */
const old: Readonly<Record<string, string>> = {
  trimText: 'return text.replace(/^[^\\S\\uFEFF]+|[^\\S\\uFEFF]+$/g, "");',
  fitsUntrimmed: 'return true;',
  rangeOf: 'if (!/^bytes=\\s*(\\d*)\\s*-\\s*(\\d*)\\s*$/i.test(header ?? "")) return "whole";',
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:') || !url.endsWith('.ts') || !loaded.source) return loaded;
    const source = String(loaded.source).replaceAll(/^export function (\w+)\(.*\{$/gm, (line, name: string) => {
      const statement = old[name];
      if (statement === undefined) return line;
      process.stderr.write(`put back: ${name}\n`);
      return `${line} ${statement}`;
    });
    return { ...loaded, source };
  },
});
