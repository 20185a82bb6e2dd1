// RJSF insists on a validator. Ours answers its only question during drawing, which schema a value fits, and leaves
// messages to `check`, which shows them at the right time.
import type { ValidatorType } from "@rjsf/utils";
import { check } from "../check";
import { asSchema } from "../schema";

export const validator: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, formData, rootSchema) => check(asSchema(schema), formData, asSchema(rootSchema)).length === 0,
  rawValidation: () => ({ errors: [] }),
};
