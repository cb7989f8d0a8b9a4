package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Record is the data of a running cluster for other processes.
type Record struct {
	Supervisor Process `json:"supervisor"`
	// Ready is set once pods can be created and run.
	Ready      bool              `json:"ready"`
	Started    time.Time         `json:"started"`
	URL        string            `json:"url"`
	Components []ComponentRecord `json:"components"`
	// Programs is the folder with the programs of real nodes, if there are any.
	Programs string `json:"programs,omitempty"`
}

// ComponentRecord is about one component of a running cluster.
type ComponentRecord struct {
	Name    string  `json:"name"`
	Process Process `json:"process"`
	// Restarts counts how often it had to be started again.
	Restarts int `json:"restarts"`
}

// find returns the component that a user named, perhaps without the kube- in
// front.
func (r Record) find(name string) (ComponentRecord, bool) {
	for _, c := range r.Components {
		if c.Name == name || c.Name == "kube-"+name {
			return c, true
		}
	}
	return ComponentRecord{}, false
}

func (r Record) names() []string {
	var names []string
	for _, c := range r.Components {
		names = append(names, c.Name)
	}
	return names
}

func (d Dir) recordFile() string { return d.join(runFolder, "cluster.json") }

// readRecord returns an empty record when the cluster was stopped properly.
func (d Dir) readRecord() (Record, error) {
	var record Record
	data, err := os.ReadFile(d.recordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return record, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil {
		return record, fmt.Errorf("read what runs in %s: %w", d, err)
	}
	return record, nil
}

func (d Dir) removeRecord() error {
	if err := os.Remove(d.recordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove record of the stopped cluster: %w", err)
	}
	return nil
}
