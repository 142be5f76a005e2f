//! When two JSON values mean the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// Whether two JSON values mean the same: `3` is `3.0`, and the order of an object's fields means nothing.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The first two values of a list that mean the same, in time that grows with its length alone.
pub fn first_twice(values: &[Value]) -> Option<(&Value, &Value)> {
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(values.len());
    for value in values {
        let alike = seen.entry(hash_of(value)).or_default();
        if let Some(earlier) = alike.iter().find(|earlier| same(earlier, value)) {
            return Some((earlier, value));
        }
        alike.push(value);
    }
    None
}

/// A number that is the same for values that mean the same.
fn hash_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Null => {}
        Value::Bool(is) => (1, is).hash(&mut hasher),
        // Numbers that mean the same are the same as 64-bit floats; a zero has two signs.
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default() + 0.0;
            (2, float.to_bits()).hash(&mut hasher);
        }
        Value::String(text) => (3, text).hash(&mut hasher),
        Value::Array(list) => {
            4.hash(&mut hasher);
            list.iter().for_each(|one| hash_of(one).hash(&mut hasher));
        }
        Value::Object(fields) => {
            let sum = fields.iter().fold(0_u64, |sum, (key, value)| {
                let mut hasher = DefaultHasher::new();
                (key, hash_of(value)).hash(&mut hasher);
                sum.wrapping_add(hasher.finish())
            });
            (5, sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_means_the_same_is_found_twice_however_it_is_written() {
        for (list, twice) in [
            (json!([]), None),
            (json!([1, 2, 3, "1", [1], {"a": 1}, true, false, []]), None),
            (json!([1, 2, 1.0]), Some((json!(1), json!(1.0)))),
            (json!([0, -0.0]), Some((json!(0), json!(-0.0)))),
            (json!(["a", "b", "b"]), Some((json!("b"), json!("b")))),
            (
                json!([[1, [2]], [1.0, [2]]]),
                Some((json!([1, [2]]), json!([1.0, [2]]))),
            ),
            (
                json!([{"a": 1, "b": {"c": 2}}, {"b": {"c": 2.0}, "a": 1}]),
                Some((
                    json!({"a": 1, "b": {"c": 2}}),
                    json!({"b": {"c": 2.0}, "a": 1}),
                )),
            ),
            (json!([{"a": 1, "b": 2}, {"a": 2, "b": 1}]), None),
            // Two whole numbers that are one as floats.
            (
                json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]),
                None,
            ),
        ] {
            let values = list.as_array().expect("a list");
            let found = first_twice(values).map(|(one, two)| (one.clone(), two.clone()));
            assert_eq!(found, twice, "{list}");
        }
        let many: Vec<Value> = (0..100_000).map(Value::from).collect();
        assert_eq!(first_twice(&many), None);
    }
}
