/** Judges a registration where it is made, with the rules it will be judged by where it arrives. */
import { registration } from './devices.ts';
import { compileReader } from './validate.ts';

/** Of the cells of a line of text. */
export const readCells = compileReader(registration, 'text');
/** Of a JSON object. */
export const readObject = compileReader(registration, 'json');
