package providers

import "encoding/json"

// MarshalJSON leaves a sensitive literal out, and says so: what is written is
// what a reader gets back, whether it goes to a disk or is only hashed.
func (p DataPart) MarshalJSON() ([]byte, error) {
	type plain DataPart
	p.Omitted = p.Omitted || p.Sensitive != ""
	return json.Marshal(plain(p))
}
