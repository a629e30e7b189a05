/** Validates input as it is entered, with the rules that the daemon applies when it arrives. The command line loads it on use. */
import { type TSchema, Type } from 'typebox';
import { appOperations } from './apps.ts';
import { boundUser, manufacturer, model, newSerialNumber, note, reason } from './device-fields.ts';
import { type Registration, registration } from './device-shapes.ts';
import { password, username } from './users.ts';
import { compileReader } from './validate.ts';

/** Names of the fields of a registration. */
export const registrationFields = Object.keys(registration.properties) as readonly (keyof Registration)[];
/** Fields without which a registration is refused. */
export const requiredFields = registration.required as readonly (keyof Registration)[];
/** Reads a registration from the cells of a line of CSV. */
export const readCells = compileReader(registration, 'text');
/** Reads a registration from a JSON object. */
export const readObject = compileReader(registration, 'json');
/** Reads the user that devices are to be activated for. */
export const readBoundUser = compileReader(Type.Object({ userId: boundUser }));

const fields = {
  serialNumber: newSerialNumber,
  manufacturer,
  model,
  reason,
  note,
  username,
  password,
  userId: boundUser,
  version: appOperations.uploadAppVersion.form.properties.version,
};

/** A field that a person enters at a terminal, named as in the interface. */
export type EnteredField = keyof typeof fields;

/** Fault of an entered value, in words that follow the name of the field (`must be …`); null if it is valid. */
export function faultOf(field: EnteredField, value: string): string | null {
  const schema: TSchema = fields[field];
  const result = compileReader(Type.Object({ [field]: schema }), 'text')({ [field]: value });
  return result.ok ? null : result.message.slice(result.field.length + 1);
}
