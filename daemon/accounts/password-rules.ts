import { inputError } from '../../src/contract/codes.ts';
import { trimText } from '../../src/contract/text.ts';
import { readCarried } from '../base/carried-files.ts';

/**
 * The most common passwords of at least 8 characters, in lower case, most frequent first. Source: the frequency list of zxcvbn
 * 4.4.2 (https://github.com/dropbox/zxcvbn, MIT license, Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc.), its first 3,500,
 * and at the end some usual variants.
 */
const listFile = 'common-passwords.txt';
const folder = { name: 'assets', places: ['assets'], holds: listFile, contents: 'the list of common passwords' };
let commonPasswords: ReadonlySet<string> | undefined;

/**
 * Why a new password is too easy to guess, in words that follow the name of the field; null if it is not. The username is null
 * if it is not known yet. Upper and lower case are the same here.
 */
export async function passwordFault(password: string, username: string | null): Promise<string | null> {
  if (trimText(password) === '') return 'must not be only white space';
  if (new Set(password).size === 1) return 'must not be one repeated character';
  const lower = password.toLowerCase();
  if (lower === username?.toLowerCase()) return 'must not be the username';
  commonPasswords ??= new Set((await readCarried(folder, listFile)).toString().trimEnd().split('\n'));
  return commonPasswords.has(lower) ? 'is one of the most common passwords' : null;
}

/** Refuses with 1001 a new password that is too easy to guess. */
export async function checkNewPassword(password: string, username: string | null): Promise<void> {
  const fault = await passwordFault(password, username);
  if (fault) throw inputError('password', fault);
}
