/** Judges whom devices are to be activated for where that is said, with the rule it will be judged by where it arrives. */
import { Type } from 'typebox';
import { boundUser } from './device-fields.ts';
import { compileReader } from './validate.ts';

export const readBoundUser = compileReader(Type.Object({ userId: boundUser }));
