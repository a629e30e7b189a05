/** Figures about all devices. */
import { Type } from 'typebox';
import { operations } from './define.ts';
import { count, shown, timestamp } from './fields.ts';
import { deviceStatuses, deviceTypes, roles, statisticsRange } from './values.ts';

const counts = <const V extends readonly string[]>(names: V) =>
  Type.Object(Object.fromEntries(names.map(name => [name, count('number of devices')])) as CountFields<V>);
type CountFields<V extends readonly string[]> = Record<V[number], ReturnType<typeof count>>;

const buckets = (description: string) =>
  Type.Array(Type.Object({ start: timestamp('start of the interval, UTC'), count: count('registrations') }), {
    description,
  });

/** Figures. */
export const statisticsOperations = operations({
  /** All figures are exact and of one moment. */
  getStatistics: {
    tag: 'Devices',
    summary: 'Count devices',
    extension: true,
    access: roles,
    limit: 'query',
    data: Type.Object({
      total: count('number of devices'),
      byStatus: counts(deviceStatuses),
      byType: counts(deviceTypes),
      byManufacturer: Type.Array(
        Type.Object({ manufacturer: shown('manufacturer'), count: count('number of devices') }),
        {
          description: `the ${statisticsRange.manufacturers} with the most devices, in this order`,
        },
      ),
      registrations: Type.Object({
        perHour: buckets(`the last ${statisticsRange.hours} hours, the current one last`),
        perDay: buckets(`the last ${statisticsRange.days} days, the current one last`),
      }),
      codesExpiring: count(`INACTIVE devices whose activation code expires within ${statisticsRange.codesDays} days`),
      unused: count(
        `ACTIVE devices not used for ${statisticsRange.unusedDays} days, or never used and activated before that`,
      ),
      generatedAt: timestamp('when the figures were counted'),
    }),
    errors: [],
  },
});
