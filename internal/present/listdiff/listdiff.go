// Package listdiff pairs the elements of two versions of a list whose elements have no key.
package listdiff

import (
	"reflect"
)

// None is the index of an element that is missing in a list.
const None = -1

// Pair connects an element of the first list with an element of the second one. Before and
// After are indexes in the two lists. One of them may be None.
type Pair struct{ Before, After int }

// maxCells limits the work. Of longer lists, only the common elements at the start and at the
// end are found.
const maxCells = 1 << 20

// Of pairs the elements of two lists, in the order of the second list; a removed element
// keeps its place. Of pairs equal elements first, as many as possible without changing
// their order. Between two such pairs, it then pairs the most similar elements: the new
// element counts as a change of the old element.
func Of(before, after []any) []Pair {
	var out []Pair
	start := 0
	for start < len(before) && start < len(after) && reflect.DeepEqual(before[start], after[start]) {
		out = append(out, Pair{start, start})
		start++
	}
	b, a := len(before), len(after)
	var end []Pair
	for b > start && a > start && reflect.DeepEqual(before[b-1], after[a-1]) {
		b, a = b-1, a-1
		end = append([]Pair{{b, a}}, end...)
	}
	out = append(out, middle(before, after, start, b, a)...)
	return append(out, end...)
}

// middle pairs before[start:b] with after[start:a].
func middle(before, after []any, start, b, a int) []Pair {
	same := func(int, int) float64 { return 0 }
	if (b-start)*(a-start) <= maxCells {
		same = func(i, j int) float64 {
			if reflect.DeepEqual(before[i], after[j]) {
				return 1
			}
			return 0
		}
	}
	var out []Pair
	i, j := start, start
	for _, p := range append(align(start, b, start, a, same), Pair{b, a}) {
		out = append(out, replaced(before, after, i, p.Before, j, p.After)...)
		if p.Before < b || p.After < a {
			out = append(out, p)
		}
		i, j = p.Before+1, p.After+1
	}
	return out
}

// replaced pairs before[i:b] with after[j:a], which have no equal elements in order.
func replaced(before, after []any, i, b, j, a int) []Pair {
	likeness := func(i, j int) float64 { return least + resemblance(before[i], after[j]) }
	if (b-i)*(a-j) > maxCells {
		likeness = func(int, int) float64 { return least }
	}
	var out []Pair
	for _, p := range append(align(i, b, j, a, likeness), Pair{b, a}) {
		for ; i < p.Before; i++ {
			out = append(out, Pair{i, None})
		}
		for ; j < p.After; j++ {
			out = append(out, Pair{None, j})
		}
		if p.Before < b && p.After < a {
			out = append(out, p)
			i, j = i+1, j+1
		}
	}
	return out
}

// least is the worth of a pair of elements that have nothing in common. It is so large that as
// many elements as possible are paired.
const least = 2.0

// align chooses pairs of indexes, from i to b and from j to a. The pairs keep the order of both
// lists and have the largest total worth.
func align(i, b, j, a int, worth func(i, j int) float64) []Pair {
	rows, columns := b-i, a-j
	if rows == 0 || columns == 0 || rows*columns > maxCells {
		return nil
	}
	// best[r][c] is the worth of the best pairs of before[i+r:b] and after[j+c:a].
	best := make([][]float64, rows+1)
	for r := range best {
		best[r] = make([]float64, columns+1)
	}
	worths := make([][]float64, rows)
	for r := rows - 1; r >= 0; r-- {
		worths[r] = make([]float64, columns)
		for c := columns - 1; c >= 0; c-- {
			worths[r][c] = worth(i+r, j+c)
			best[r][c] = max(best[r+1][c], best[r][c+1], best[r+1][c+1]+worths[r][c])
		}
	}
	var out []Pair
	for r, c := 0, 0; r < rows && c < columns; {
		switch {
		case worths[r][c] > 0 && best[r][c] == best[r+1][c+1]+worths[r][c]:
			out = append(out, Pair{i + r, j + c})
			r, c = r+1, c+1
		case best[r][c] == best[r+1][c]:
			r++
		default:
			c++
		}
	}
	return out
}

// resemblance returns the similarity of two values, from 0 to 1.
func resemblance(x, y any) float64 {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x)+len(y) == 0 {
			return 0
		}
		common, all := 0.0, len(y)
		for key, value := range x {
			other, both := y[key]
			if !both {
				all++
				continue
			}
			common += shared + (1-shared)*resemblance(value, other)
		}
		return (common/float64(all) + named(x, y)) / 2
	case []any:
		y, ok := y.([]any)
		if !ok || len(x)+len(y) == 0 {
			return 0
		}
		common := 0
		for _, element := range x {
			for _, other := range y {
				if reflect.DeepEqual(element, other) {
					common++
					break
				}
			}
		}
		return float64(common) / float64(max(len(x), len(y)))
	case string:
		y, ok := y.(string)
		if !ok {
			return 0
		}
		return alike(x, y)
	}
	if reflect.DeepEqual(x, y) {
		return 1
	}
	return 0
}

// named returns 1 if two maps have the same name, else 0.
func named(x, y map[string]any) float64 {
	for _, field := range []string{"name", "key"} {
		if name, ok := x[field]; ok && reflect.DeepEqual(name, y[field]) {
			return 1
		}
	}
	return 0
}

// shared is the worth of a field that two maps share, with any values.
const shared = 0.2

// alike returns the part of two texts that is equal at their starts and ends, from 0 to 1.
func alike(x, y string) float64 {
	if x == y {
		return 1
	}
	start, end := 0, 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return float64(start+end) / float64(max(len(x), len(y)))
}
