/** Validates input as it is entered, with the rules that the daemon applies when it arrives. The command line loads it on use. */
import { Type } from 'typebox';
import { boundUser } from './device-fields.ts';
import { registration } from './device-shapes.ts';
import { compileReader } from './validate.ts';

/** Reads a registration from the cells of a line of CSV. */
export const readCells = compileReader(registration, 'text');
/** Reads a registration from a JSON object. */
export const readObject = compileReader(registration, 'json');
/** Reads the user that devices are to be activated for. */
export const readBoundUser = compileReader(Type.Object({ userId: boundUser }));
