// Package crd predicts how an API server would treat a custom resource once it has the
// resource's definition: which fields it would drop, which defaults it would set, and which
// errors it would find. The package is for definitions that no server has yet.
//
// The package does not evaluate rules in CEL, conversion between versions, or admission. It
// only detects rules; see Schema.Rules.
package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Schema contains the rules of a definition for its objects in one version.
type Schema struct {
	// Rules reports whether the schema contains rules in CEL, which only a server checks.
	Rules bool

	structural *schema.Structural
	// lenient is the schema for objects that are applied; see loosen.
	lenient   *schema.Structural
	validator *validate.SchemaValidator
	// namespaced reports whether the objects are in a namespace.
	namespaced bool
	// ownStatus reports whether the status has its own subresource. A server then drops the
	// status from the object.
	ownStatus bool
}

// UnservedError means that a definition serves its kind only in other versions.
type UnservedError struct {
	Version string
	Served  []string
}

func (e *UnservedError) Error() string {
	return fmt.Sprintf("it does not serve version %s, only %s", e.Version, strings.Join(e.Served, ", "))
}

// Read returns the schema of a version in a CustomResourceDefinition (v1). The error is an
// *UnservedError, or it describes a mistake in the definition: the definition cannot be read,
// or its schema is not structural, which no server accepts.
func Read(definition *unstructured.Unstructured, version string) (*Schema, error) {
	var d apiextensionsv1.CustomResourceDefinition
	text, err := definition.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	v, err := served(&d, version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralOf(v)
	if err != nil {
		return nil, err
	}
	lenient := structural.DeepCopy()
	loosen(lenient, false)
	return &Schema{
		lenient:    lenient,
		Rules:      hasRules(structural),
		structural: structural,
		validator:  validate.NewSchemaValidator(openAPIOf(structural), nil, "", strfmt.Default),
		namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		ownStatus:  v.Subresources != nil && v.Subresources.Status != nil,
	}, nil
}

func served(d *apiextensionsv1.CustomResourceDefinition, version string) (*apiextensionsv1.CustomResourceDefinitionVersion, error) {
	other := &UnservedError{Version: version}
	for i := range d.Spec.Versions {
		v := &d.Spec.Versions[i]
		switch {
		case !v.Served:
		case v.Name == version:
			return v, nil
		default:
			other.Served = append(other.Served, v.Name)
		}
	}
	if len(other.Served) == 0 {
		return nil, errors.New("it serves no version")
	}
	return nil, other
}

func structuralOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (*schema.Structural, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", v.Name)
	}
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s cannot be read: %w", v.Name, err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s is not structural: %w", v.Name, err)
	}
	if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, fmt.Errorf("the schema of version %s is not structural: %w", v.Name, errs.ToAggregate())
	}
	return structural, nil
}

func hasRules(s *schema.Structural) bool {
	found := false
	visitor := schema.Visitor{
		Structural: func(s *schema.Structural) bool {
			found = found || len(s.XValidations) > 0
			return false
		},
		NestedValueValidation: func(v *schema.NestedValueValidation) bool {
			found = found || len(v.ValidationExtensions.XValidations) > 0
			return false
		},
	}
	visitor.Visit(s)
	return found
}

// Complete returns the object as a server would store it: without the fields that the schema
// does not have, and with the defaults of omitted fields.
func (s *Schema) Complete(object *unstructured.Unstructured) *unstructured.Unstructured {
	whole := object.DeepCopy()
	pruning.Prune(whole.Object, s.structural, true)
	fillIn(whole.Object, s.structural)
	if s.ownStatus {
		delete(whole.Object, "status")
	}
	return whole
}

// fillIn sets the defaults below a value with the schema s.
func fillIn(value any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name := range s.Properties {
			property := s.Properties[name]
			if _, there := value[name]; !there && property.Default.Object != nil {
				value[name] = property.Default.DeepCopy().Object
			}
		}
		for name, item := range value {
			if property, ok := s.Properties[name]; ok {
				fillIn(item, &property)
			} else if s.AdditionalProperties != nil {
				fillIn(item, s.AdditionalProperties.Structural)
			}
		}
	case []any:
		for _, item := range value {
			fillIn(item, s.Items)
		}
	}
}

// Unknown returns the fields of a manifest that the schema does not have. A server refuses the
// first ones in an apply. It only drops the second ones, given as paths, with a warning,
// because a field above them permits any fields. Check finds unknown fields of metadata.
func (s *Schema) Unknown(manifest *unstructured.Unstructured) (refused field.ErrorList, dropped []string) {
	dropped = unknown(manifest, s.structural)
	for _, path := range unknown(manifest, s.lenient) {
		refused = append(refused, field.Forbidden(field.NewPath(path), "field not declared in schema")) // the wording of an apply
		dropped = slices.DeleteFunc(dropped, func(d string) bool { return d == path })
	}
	return refused, dropped
}

func unknown(manifest *unstructured.Unstructured, s *schema.Structural) []string {
	return pruning.PruneWithOptions(manifest.DeepCopy().Object, s, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// loosen permits any fields below every value that permits any fields.
func loosen(s *schema.Structural, loose bool) {
	if s == nil {
		return
	}
	s.XPreserveUnknownFields = s.XPreserveUnknownFields || loose
	loosen(s.Items, s.XPreserveUnknownFields)
	for name, property := range s.Properties {
		loosen(&property, s.XPreserveUnknownFields)
		s.Properties[name] = property
	}
	if s.AdditionalProperties != nil {
		loosen(s.AdditionalProperties.Structural, s.XPreserveUnknownFields)
	}
}

// Check returns all errors of a complete object that the schema shows, sorted by path.
func (s *Schema) Check(object *unstructured.Unstructured) field.ErrorList {
	errs := s.checkMeta(object)
	errs = append(errs, s.checkValues(object)...)
	errs = append(errs, checkEmbedded(nil, object.Object, s.structural)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object.Object)...)
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}
