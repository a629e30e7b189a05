/** Checks one value where a person enters it, by the rule that the request with that value is checked by. */
import { type TSchema, Type } from 'typebox';
import { uploadApp } from './apps.ts';
import { boundUser, manufacturer, model, reason, serialNumber } from './device-fields.ts';
import { password, username } from './users.ts';
import { compileReader } from './validate.ts';

const fields = {
  serialNumber,
  manufacturer,
  model,
  reason,
  username,
  password,
  userId: boundUser,
  version: uploadApp.form.properties.version,
};

/** A field that is asked for at a terminal, by its name in the interface. */
export type EnteredField = keyof typeof fields;

/** What is wrong with a value, in words that follow the name of the field (`must be …`); null if it is valid. */
export function faultOf(field: EnteredField, value: string): string | null {
  const schema: TSchema = fields[field];
  const outcome = compileReader(Type.Object({ [field]: schema }), 'text')({ [field]: value });
  return outcome.ok ? null : outcome.message.slice(outcome.field.length + 1);
}
