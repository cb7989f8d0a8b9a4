package crd

import (
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kinds "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPIOf returns the schema in the form that the validator needs. It includes the rules that
// a server applies beyond the schema's text.
func openAPIOf(structural *schema.Structural) *spec.Schema {
	s := structural.ToKubeOpenAPI()
	amend(s)
	return s
}

// amend adds the types of an int-or-string to a schema, and removes number formats that servers
// ignore.
func amend(s *spec.Schema) {
	if s == nil {
		return
	}
	if either, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); either {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	if s.Type.Contains("integer") && s.Format != "int32" && s.Format != "int64" ||
		s.Type.Contains("number") && s.Format != "float" && s.Format != "double" {
		s.Format = ""
	}
	for name, property := range s.Properties {
		amend(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		amend(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		amend(s.AdditionalProperties.Schema)
	}
}

// checkValues checks the object's values against the schema.
func (s *Schema) checkValues(object *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	for _, err := range s.validator.Validate(object.Object).Errors {
		errs = append(errs, fieldError(err))
	}
	return errs
}

// fieldError returns a validator's error in the words of a server.
func fieldError(err error) *field.Error {
	var wrong *openapi.Validation
	if !errors.As(err, &wrong) {
		return field.Invalid(nil, "", err.Error())
	}
	var path *field.Path
	if name := strings.Trim(wrong.Name, "."); name != "" {
		path = field.NewPath(name)
	}
	value := wrong.Value
	if value == nil {
		value = ""
	}
	switch wrong.Code() {
	case openapi.RequiredFailCode:
		return field.Required(path, "")
	case openapi.EnumFailCode:
		return field.NotSupported(path, wrong.Value, texts(wrong.Values))
	case openapi.InvalidTypeCode:
		return field.TypeInvalid(path, value, wrong.Error())
	}
	return field.Invalid(path, value, wrong.Error())
}

func texts(values []any) []string {
	var out []string
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			inJSON, _ := json.Marshal(value) // it came from JSON
			text = string(inJSON)
		}
		out = append(out, text)
	}
	return out
}

// checkEmbedded checks the embedded objects within a value against the rules for all objects.
func checkEmbedded(path *field.Path, value any, s *schema.Structural) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			errs = append(errs, checkType(path, value)...)
			errs = append(errs, checkMetaWithin(path, value)...)
		}
		for name, item := range value {
			if property, ok := s.Properties[name]; ok {
				errs = append(errs, checkEmbedded(path.Child(name), item, &property)...)
			} else if s.AdditionalProperties != nil {
				errs = append(errs, checkEmbedded(path.Key(name), item, s.AdditionalProperties.Structural)...)
			}
		}
	case []any:
		for i, item := range value {
			errs = append(errs, checkEmbedded(path.Index(i), item, s.Items)...)
		}
	}
	return errs
}

// checkType checks the apiVersion and the kind of an embedded object.
func checkType(path *field.Path, object map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"apiVersion", "kind"} {
		value, there := object[name]
		text, ok := value.(string)
		switch {
		case !there:
			errs = append(errs, field.Required(path.Child(name), ""))
		case !ok:
			errs = append(errs, field.Invalid(path.Child(name), value, "must be a string"))
		case text == "":
			errs = append(errs, field.Invalid(path.Child(name), text, "must not be empty"))
		case name == "kind":
			for _, message := range validation.IsDNS1035Label(strings.ToLower(text)) {
				errs = append(errs, field.Invalid(path.Child(name), text, message))
			}
		default:
			if _, err := kinds.ParseGroupVersion(text); err != nil {
				errs = append(errs, field.Invalid(path.Child(name), text, err.Error()))
			}
		}
	}
	return errs
}

// checkMeta checks the metadata of the object itself.
func (s *Schema) checkMeta(object *unstructured.Unstructured) field.ErrorList {
	path := field.NewPath("metadata")
	meta, err := metaOf(path, object.Object["metadata"])
	if err != nil {
		return field.ErrorList{err}
	}
	return metavalidation.ValidateObjectMeta(meta, s.namespaced, metavalidation.NameIsDNSSubdomain, path)
}

// checkMetaWithin checks the metadata of an embedded object. The object may lack metadata or a
// name, and it may be in a namespace or in none.
func checkMetaWithin(path *field.Path, object map[string]any) field.ErrorList {
	fields, there := object["metadata"]
	if !there {
		return nil
	}
	meta, err := metaOf(path.Child("metadata"), fields)
	if err != nil {
		return field.ErrorList{err}
	}
	if meta.Name == "" {
		meta.Name = "unnamed"
	}
	return metavalidation.ValidateObjectMeta(meta, meta.Namespace != "", usableInURL, path.Child("metadata"))
}

func metaOf(path *field.Path, value any) (*metav1.ObjectMeta, *field.Error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, field.Invalid(path, value, "must be an object")
	}
	var meta metav1.ObjectMeta
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, &meta, true); err != nil {
		return nil, field.Invalid(path, "", err.Error())
	}
	return &meta, nil
}

// usableInURL accepts any name that a path can contain, because the kind of an embedded object
// is not known.
func usableInURL(name string, _ bool) []string { return content.IsPathSegmentName(name) }
