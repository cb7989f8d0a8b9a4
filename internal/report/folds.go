package report

// Foldable is an object in a list of objects. Objects about which a renderer says the same
// can be told together.
type Foldable struct {
	// Said is the text of a renderer about the object, without its address.
	Said string
	// Own replaces the names of the object in a text; nil: its names are not compared.
	Own func(string) string
	// Create: the object is new. New objects are listed one by one.
	Create bool
	Gone   bool // somebody deleted it
}

// Fold stands for objects that are told together.
type Fold struct {
	Members []int // the indexes of the objects
	Alike   bool  // the texts differ in the objects' own names
}

// Folds puts objects with the same text together, and then many objects whose texts differ
// only in their own names. With full, it only does the former.
func Folds(items []Foldable, full bool) []Fold {
	var out []Fold
	for i := range items {
		out = append(out, Fold{Members: []int{i}})
	}
	out = join(out, 2, func(f Fold) (string, bool) {
		it := items[f.Members[0]]
		return it.Said, !it.Create
	})
	if full {
		return out
	}
	alike := join(out, Similar+1, func(f Fold) (string, bool) {
		it := items[f.Members[0]]
		if it.Own == nil || len(f.Members) > 1 || it.Create && !it.Gone {
			return "", false
		}
		return it.Own(it.Said), true
	})
	before := map[int]int{} // the number of members, by the first one
	for _, f := range out {
		before[f.Members[0]] = len(f.Members)
	}
	for i, f := range alike {
		alike[i].Alike = len(f.Members) > before[f.Members[0]]
	}
	return alike
}

// join puts folds with the same key together if there are at least so many. Folds without a
// key stay alone.
func join(folds []Fold, least int, key func(Fold) (string, bool)) []Fold {
	keys := make([]string, len(folds))
	members := map[string]int{}
	for i, f := range folds {
		if k, ok := key(f); ok {
			keys[i] = k + "\n"
			members[keys[i]]++
		}
	}
	var out []Fold
	first := map[string]int{}
	for i, f := range folds {
		k := keys[i]
		if k == "" || members[k] < least {
			out = append(out, f)
			continue
		}
		if at, ok := first[k]; ok {
			out[at].Members = append(out[at].Members, f.Members...)
			continue
		}
		first[k] = len(out)
		out = append(out, f)
	}
	return out
}
