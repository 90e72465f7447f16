//! Lists the models that memod knows by name.

use super::{ModelPurpose, Pooling};

/// A model that memod knows by name, with everything that is needed to fetch and run the model.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry {
    /// Short name of the model.
    pub name: &'static str,
    /// Repository in the Hugging Face hub: `owner/name`.
    pub repository: &'static str,
    /// Path of the model file in the repository.
    pub model_file: &'static str,
    /// Whether the model embeds texts or reranks hits.
    pub purpose: ModelPurpose,
    /// Number of dimensions of the model's vectors; 0 for a reranker.
    pub dims: usize,
    /// How the vectors of a text's tokens become one vector.
    pub pooling: Pooling,
    /// Text that is put before each query.
    pub query_prefix: &'static str,
    /// Text that is put before each document.
    pub document_prefix: &'static str,
    /// Number of tokens after which a text is cut.
    pub max_tokens: usize,
    /// SPDX identifier of the model's licence.
    pub licence: &'static str,
    /// Approximate size of the model file, MB.
    pub megabytes: u64,
    /// The purpose of the model, in a few words.
    pub note: &'static str,
}

impl CatalogueEntry {
    /// Returns the entry with this name; `None` if the catalogue has no such model.
    pub fn find(name: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|entry| entry.name == name)
    }
}

/// Makes the entry of an embedding model that pools by mean and needs no prefixes.
const fn mean_pooling_entry(
    name: &'static str,
    repository: &'static str,
    dims: usize,
    max_tokens: usize,
    megabytes: u64,
    note: &'static str,
) -> CatalogueEntry {
    CatalogueEntry {
        name,
        repository,
        model_file: "onnx/model.onnx",
        purpose: ModelPurpose::Embed,
        dims,
        pooling: Pooling::Mean,
        query_prefix: "",
        document_prefix: "",
        max_tokens,
        licence: "Apache-2.0",
        megabytes,
        note,
    }
}

/// The prefix of queries for the bge models. Documents have no prefix.
const BGE_QUERY_PREFIX: &str = "Represent this sentence for searching relevant passages: ";

/// Every model that memod knows by name. Texts are cut at 512 tokens: more take time and hardly improve results.
pub const CATALOGUE: &[CatalogueEntry] = &[
    mean_pooling_entry("minilm-l6", "sentence-transformers/all-MiniLM-L6-v2", 384, 256, 90, "small and fast"),
    mean_pooling_entry(
        "minilm-l12",
        "sentence-transformers/all-MiniLM-L12-v2",
        384,
        256,
        133,
        "twice the layers of minilm-l6",
    ),
    mean_pooling_entry("mpnet", "sentence-transformers/all-mpnet-base-v2", 768, 384, 436, "prose"),
    CatalogueEntry {
        query_prefix: "search_query: ",
        document_prefix: "search_document: ",
        ..mean_pooling_entry("nomic-v1", "nomic-ai/nomic-embed-text-v1", 768, 512, 548, "long texts")
    },
    CatalogueEntry {
        query_prefix: "search_query: ",
        document_prefix: "search_document: ",
        ..mean_pooling_entry("nomic-v1.5", "nomic-ai/nomic-embed-text-v1.5", 768, 512, 548, "long texts")
    },
    CatalogueEntry {
        model_file: "model.onnx",
        ..mean_pooling_entry("jina-v2-base", "jinaai/jina-embeddings-v2-base-en", 768, 512, 547, "long texts")
    },
    CatalogueEntry {
        model_file: "model.onnx",
        ..mean_pooling_entry(
            "jina-v2-small",
            "jinaai/jina-embeddings-v2-small-en",
            512,
            512,
            130,
            "long texts, small",
        )
    },
    mean_pooling_entry(
        "jina-v2-code",
        "jinaai/jina-embeddings-v2-base-code",
        768,
        512,
        642,
        "code in 30 languages, and prose",
    ),
    CatalogueEntry {
        pooling: Pooling::Cls,
        query_prefix: BGE_QUERY_PREFIX,
        licence: "MIT",
        ..mean_pooling_entry("bge-base", "BAAI/bge-base-en-v1.5", 768, 512, 436, "prose")
    },
    CatalogueEntry {
        pooling: Pooling::Cls,
        query_prefix: BGE_QUERY_PREFIX,
        licence: "MIT",
        ..mean_pooling_entry("bge-small", "BAAI/bge-small-en-v1.5", 384, 512, 133, "prose, small")
    },
    CatalogueEntry {
        licence: "MIT",
        ..mean_pooling_entry("gte-small", "thenlper/gte-small", 384, 512, 133, "prose, small")
    },
    CatalogueEntry {
        purpose: ModelPurpose::Rerank,
        ..mean_pooling_entry(
            "ms-marco-l6",
            "cross-encoder/ms-marco-MiniLM-L6-v2",
            0,
            256,
            91,
            "English, small and fast",
        )
    },
    CatalogueEntry {
        purpose: ModelPurpose::Rerank,
        ..mean_pooling_entry(
            "jina-reranker-v1-turbo",
            "jinaai/jina-reranker-v1-turbo-en",
            0,
            512,
            151,
            "English, long texts",
        )
    },
    CatalogueEntry {
        purpose: ModelPurpose::Rerank,
        licence: "MIT",
        ..mean_pooling_entry(
            "bge-reranker-base",
            "BAAI/bge-reranker-base",
            0,
            256,
            1_110,
            "English and Chinese, large and slow",
        )
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_differ() {
        let mut names: Vec<_> = CATALOGUE.iter().map(|entry| entry.name).collect();
        assert!(names.iter().all(|name| super::super::cache::is_model_name(name)), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CATALOGUE.len());
    }
}
