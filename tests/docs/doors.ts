/** The examples of docs/doors.md, and the registry that they ask. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { serviceToken } from '../support/service-token.ts';
import { temporaryFolder } from '../support/temporary.ts';

export const page = readFileSync(join(import.meta.dirname, '../../docs/doors.md'), 'utf8');
/** The first block after a heading that begins so. */
export const block = (heading: string, language: string): string =>
  page.slice(page.indexOf(`### ${heading}`)).match(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``))![1]!;

/** A daemon, and a folder with the token of a door. */
export async function registry() {
  const daemon = await startTestDaemon();
  onTestFinished(() => daemon.stop());
  const { token } = await serviceToken(daemon, { role: 'VIEWER', may: ['decide'] });
  const folder = temporaryFolder();
  const at = (file: string, text?: string) => {
    if (text !== undefined) writeFileSync(join(folder, file), text);
    return join(folder, file);
  };
  at('token', `${token}\n`);
  return { daemon, at };
}

/** Ends with the test. Resolves when its output matches. */
export async function ready(child: ChildProcess, pattern: RegExp): Promise<void> {
  onTestFinished(() => void child.kill());
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const look = (part: Buffer) => {
      log += part;
      if (pattern.test(log)) resolve();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.on('exit', code => reject(new Error(`it ended with ${code}: ${log.slice(-3000)}`)));
  });
}

/** The program for scripts. */
export const doorProgram = page.match(/```bash\n(#!\/bin\/bash\n# devmgr-door [\s\S]*?)```/)![1]!;
