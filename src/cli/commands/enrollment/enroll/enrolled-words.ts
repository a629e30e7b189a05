/** The result for one key, as people read it. */

import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { Context } from '../../../framework/context.ts';
import { wrapped } from '../../../terminal/card.ts';
import { statusStyle } from '../../../terminal/style.ts';
import { safe } from '../../../terminal/text.ts';
import { width } from '../../../terminal/width.ts';
import { gradeStyle, proofLine, warningsOf } from '../../devices/proof.ts';

const indent = '    ';

/** Writes the row of a key to standard output: the row for a script, its device with --quiet, else words. Null: those of `enrolledWords`. */
export async function showRow(context: Context, row: EnrollmentOutcome, words: string | null = null): Promise<void> {
  const { globals, out } = context;
  if (globals.json) await out.row(row);
  else if (globals.quiet) await out.text(row.deviceId === null ? '' : `${safe(row.deviceId)}\n`);
  else await out.text(words ?? enrolledWords(context, row));
}

/** One line or more, each with a line feed. */
export function enrolledWords(context: Context, outcome: EnrollmentOutcome): string {
  const { paint } = context.out;
  const { result, deviceId, status, userId } = outcome;
  const what = safe(`${outcome.deviceType} ${outcome.serialNumber ?? '(no readable serial)'}`);
  const key = `${what}${outcome.simulated ? paint('yellow', ' (simulated)') : ''}`;
  const state = status === null ? '' : ` ${paint(statusStyle(status), safe(status))}`;
  const device = `${safe(deviceId ?? '')}${state}${userId ? ` for ${safe(userId)}` : ''}`;
  const code = `\n${indent}activation code  ${paint('bold', safe(outcome.activationCode ?? '-'))}`;
  const message = `${outcome.message === null ? '' : prose(context, outcome.message)}${proofOf(context, outcome)}${providersOf(outcome)}`;
  switch (result) {
    case 'failed':
      return `${line(context, `${paint('red', '✗ failed      ')}${deviceId === null ? '' : `${device}  `}`, key)}${message}\n`;
    case 'conflict':
      return `${line(context, paint('red', '✗ conflict    '), key)}${message}\n`;
    case 'new':
      return `${line(context, paint('cyan', '+ new         '), key)} would be registered${message}\n`;
    case 'spooled':
      return `${line(context, paint('yellow', '… spooled     '), key)}${message}\n`;
    case 'known':
      return `${line(context, `${paint('yellow', '= known       ')}${device}  `, key)}${message}\n`;
    case 'registered':
      return `${line(context, `${paint('green', '✓ registered  ')}${device}  `, key)}${code}${message}\n`;
  }
}

/** The message of a key that failed has the reason. */
function proofOf(context: Context, { result, proof }: EnrollmentOutcome): string {
  if (!proof || result === 'failed') return '';
  const words = context.out.paint(gradeStyle(proof.grade), proofLine(proof));
  const warnings = warningsOf(proof).map(warning => prose(context, warning));
  return `\n${indent}proof            ${words}${warnings.join('')}`;
}

/** Where the key signs in. The message of a key that failed has the rest. */
function providersOf({ providers = {} }: EnrollmentOutcome): string {
  const issued = Object.keys(providers).filter(name => providers[name] === 'issued');
  return issued.length === 0 ? '' : `\n${indent}signs in at      ${safe(issued.join(', '))}`;
}

/** Both on one line if it is wide enough, else on two lines. */
function line({ io }: Context, head: string, tail: string): string {
  const both = head + tail;
  return width(both) <= io.columns ? both : `${head.trimEnd()}\n${indent}${tail}`;
}

/** A text below a line, wrapped between words. */
function prose({ io }: Context, text: string): string {
  const lines = wrapped(safe(text), io.columns - indent.length);
  return lines.map(part => `\n${indent}${part}`).join('');
}
